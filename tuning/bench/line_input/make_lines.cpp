// Inputs of the benchmark of lines: `ecosort_make_lines KIND BYTES PATH`, the same bytes every time.
//
//   text   60 to 140 printable characters, 100 on average, all different
//   csv    id,number,text: 30 to 70 characters, ordered by neither
//   table  the same rows below a line of names
//   jsonl  the same rows as JSON: {"id":1,"of":{"number":-2.5},"text":"three"}
//   log    lines of an access log, of 90 characters on average: addresses of some networks, pages of which few are wanted often
//   orders rows of an order book: id, time, customer, article, state, amount
//   short  9 random letters and digits
//   few    lines like those of `text`, of which 1 % are different
//   numbers   decimal numbers of both signs, below a million, with six digits behind the point
//   versions  lib, a name of two letters, and three numbers: lib-ab-1.20.300, some with .tar.gz
//   equal     the same line of 20 bytes again and again
//   u64    binary records of 16 bytes: a random key and its number, both little-endian
//   dates  records of 100 bytes that begin with 24 bytes such as 2026-03-29T04:05:06.789Z, of one year, in random order
//   urls   records of 100 bytes that begin with a URL of 64 bytes, of which the first 49 or so name one of 600 places
//   bytes  records of 100 random bytes
//   paths, links, dated, numbered, in-order, events, packages, addresses, integers   text as people have it (peoples_text.h)
//   visits     a table of days, cities and streets below a line of names
//   appended   the first 95 % as in-order, and behind them dated
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/random.h"
#include "line_input/peoples_text.h"

namespace {

using ecosort::Random;
using ecosort::bench::mostly_small;

void append_text(std::string& out, Random& random, std::size_t length) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _";
  static_assert(letters.size() == 64);
  for (std::uint64_t bits = 0, left = 0; length > 0; --length, --left, bits >>= 6U) {
    if (left == 0) {
      bits = random.next();
      left = 10;
    }
    out += letters[bits % 64];
  }
}

constexpr std::size_t record_bytes = 100;

void append_date(std::string& out, Random& random) {
  const std::uint64_t at = random.next();
  fmt::format_to(std::back_inserter(out), "2026-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", 1 + at % 12, 1 + at / 12 % 28,
                 at / 336 % 24, at / 8064 % 60, at / 483'840 % 60, at / 29'030'400 % 1000);
}

void append_url(std::string& out, Random& random) {
  constexpr std::string_view shops[] = {"books", "garden", "music", "shoes", "tools", "toys"};
  constexpr std::size_t length = 64;
  const std::uint64_t at = random.next();
  const std::size_t begin = out.size();
  fmt::format_to(std::back_inserter(out), "https://www.example-{}.com/catalogue/{:02}/item/", shops[at % 6], at / 6 % 100);
  append_text(out, random, begin + length - out.size());
}

void append_record(std::string& out, std::string_view kind, Random& random) {
  const std::size_t end = out.size() + record_bytes;
  if (kind == "dates") append_date(out, random);
  if (kind == "urls") append_url(out, random);
  while (out.size() < end) {
    const std::uint64_t bits = random.next();
    out.append(reinterpret_cast<const char*>(&bits), std::min(sizeof bits, end - out.size()));
  }
}

struct Row {
  std::uint64_t id;
  std::string number, text;
};

Row row_of(Random& random) {
  Row row{random.next() % 1'000'000'000, "", ""};
  const std::uint64_t whole = random.next(), cents = random.next();
  row.number = fmt::format("{}.{}", static_cast<std::int64_t>(whole % 2'000'000'000) - 1'000'000'000, cents % 100);
  append_text(row.text, random, 8 + random.next() % 40);
  return row;
}

void append_log(std::string& out, Random& random, std::uint64_t number) {
  constexpr std::string_view places[] = {"articles", "images", "search", "api/v2/items", "static/css"};
  const std::uint64_t at = number / 40, page = mostly_small(random, 5000), code = random.next() % 20;
  fmt::format_to(std::back_inserter(out),
                 "10.{}.{}.{} - - [24/Nov/2026:{:02}:{:02}:{:02} +0000] \"GET /{}/{}.html HTTP/1.1\" {} {}", random.next() % 4,
                 random.next() % 64, random.next() % 256, at / 3600 % 24, at / 60 % 60, at % 60, places[page % 5], page,
                 code == 0   ? 404
                 : code == 1 ? 304
                             : 200,
                 200 + random.next() % 60'000);
}

void append_order(std::string& out, Random& random, std::uint64_t number) {
  constexpr std::string_view states[] = {"open", "paid", "shipped", "returned"};
  constexpr std::string_view articles[] = {"garden chair", "book lamp", "walking shoes", "tool box", "blue teapot", "kite"};
  fmt::format_to(std::back_inserter(out), "{},", random.next() % 1'000'000'000);
  append_date(out, random);
  fmt::format_to(std::back_inserter(out), ",customer {:05},{} no. {},{},{}.{:02}", mostly_small(random, 100'000),
                 articles[number % 6], mostly_small(random, 300), states[random.next() % 4], mostly_small(random, 1000),
                 random.next() % 100);
}

using Append = void (*)(std::string&, Random&, std::uint64_t);
constexpr struct {
  std::string_view name;
  Append append;
} peoples_kinds[] = {
    {"paths", ecosort::bench::append_path},        {"links", ecosort::bench::append_link},
    {"dated", ecosort::bench::append_dated},       {"numbered", ecosort::bench::append_numbered},
    {"in-order", ecosort::bench::append_in_order}, {"events", ecosort::bench::append_event},
    {"packages", ecosort::bench::append_package},  {"addresses", ecosort::bench::append_address},
    {"integers", ecosort::bench::append_integer},  {"visits", ecosort::bench::append_visit},
};

Append append_of(std::string_view kind) {
  for (const auto& known : peoples_kinds)
    if (known.name == kind) return known.append;
  return nullptr;
}

bool is_of_records(std::string_view kind) { return kind == "dates" || kind == "urls" || kind == "bytes"; }

// Line `number` of a kind; everything about it follows from the number.
void append_line(std::string& out, std::string_view kind, std::uint64_t number) {
  Random random(number);
  if (is_of_records(kind)) return append_record(out, kind, random);
  if (const Append append = append_of(kind)) {
    append(out, random, number);
    out += '\n';
    return;
  }
  if (kind == "u64") {
    const std::uint64_t record[2] = {random.next(), number};
    out.append(reinterpret_cast<const char*>(record), sizeof record);
    return;
  }
  if (kind == "short") {
    append_text(out, random, 9);
  } else if (kind == "csv" || kind == "table") {
    const Row row = row_of(random);
    fmt::format_to(std::back_inserter(out), "{},{},{}", row.id, row.number, row.text);
  } else if (kind == "jsonl") {
    const Row row = row_of(random);
    fmt::format_to(std::back_inserter(out), R"({{"id":{},"of":{{"number":{}}},"text":"{}"}})", row.id, row.number, row.text);
  } else if (kind == "numbers") {
    const std::uint64_t value = random.next();
    fmt::format_to(std::back_inserter(out), "{}{}.{:06}", value >> 63U != 0 ? "-" : "", value % 1'000'000,
                   value / 1'000'000 % 1'000'000);
  } else if (kind == "versions") {
    out += "lib-";
    append_text(out, random, 2);
    const std::uint64_t value = random.next();
    fmt::format_to(std::back_inserter(out), "-{}.{}.{}{}", value % 10, value / 10 % 100, value / 1000 % 1000,
                   value >> 62U == 0 ? ".tar.gz" : "");
  } else if (kind == "log") {
    append_log(out, random, number);
  } else if (kind == "orders") {
    append_order(out, random, number);
  } else if (kind == "equal") {
    out += "the same line again";
  } else {
    append_text(out, random, 59 + random.next() % 81);
  }
  out += '\n';
}

int make(std::string_view kind, std::uint64_t bytes, const char* path) {
  std::FILE* const file = std::fopen(path, "wb");
  if (file == nullptr) return 1;
  const std::uint64_t distinct = kind == "few" ? std::max<std::uint64_t>(bytes / 100 / 100, 1) : UINT64_MAX;
  Random choice(1);
  std::string block;
  const std::string_view names = kind == "table" ? "id,number,text\n" : kind == "visits" ? ecosort::bench::visit_names : "";
  bool is_written = std::fwrite(names.data(), 1, names.size(), file) == names.size();
  for (std::uint64_t number = 0, written = names.size(); written < bytes && is_written; written += block.size()) {
    block.clear();
    const std::uint64_t size = std::min<std::uint64_t>(bytes - written, std::uint64_t{1} << 20U);
    const std::string_view now = kind != "appended" ? kind : written < bytes / 20 * 19 ? "in-order" : "dated";
    for (; block.size() < size; ++number) append_line(block, now, kind == "few" ? choice.next() % distinct : number);
    is_written = std::fwrite(block.data(), 1, block.size(), file) == block.size();
  }
  return std::fclose(file) == 0 && is_written ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::string_view kinds[] = {"text",    "csv",      "table", "jsonl", "log",   "orders", "short", "few",
                                        "numbers", "versions", "equal", "u64",   "dates", "urls",   "bytes", "appended"};
  std::uint64_t bytes = 0;
  const std::string_view number = argc == 4 ? argv[2] : "";
  const bool is_number = std::from_chars(number.data(), number.data() + number.size(), bytes).ec == std::errc();
  const bool is_kind =
      argc == 4 && (append_of(argv[1]) != nullptr || std::ranges::find(kinds, std::string_view(argv[1])) != std::end(kinds));
  if (!is_number || !is_kind) {
    std::string names(kinds[0]);
    for (const std::string_view kind : std::span(kinds).subspan(1)) names += fmt::format("|{}", kind);
    for (const auto& kind : peoples_kinds) names += fmt::format("|{}", kind.name);
    fmt::print(stderr, "usage: ecosort_make_lines {} BYTES PATH\n", names);
    return 2;
  }
  if (make(argv[1], bytes, argv[3]) == 0) return 0;
  std::perror(argv[3]);
  return 1;
}
