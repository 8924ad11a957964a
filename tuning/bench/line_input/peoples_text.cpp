#include "line_input/peoples_text.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

namespace ecosort::bench {
namespace {

constexpr std::string_view words[] = {
    "album",  "archive", "backup",  "branch", "cache",   "client", "common", "config", "data",   "default", "detail",
    "device", "engine",  "export",  "family", "filter",  "folder", "garden", "import", "kernel", "letter",  "locale",
    "market", "message", "module",  "museum", "native",  "number", "object", "office", "output", "package", "parser",
    "photos", "plugin",  "printer", "public", "random",  "record", "report", "sample", "school", "screen",  "script",
    "search", "server",  "shared",  "silver", "source",  "static", "stream", "summer", "system", "target",  "thread",
    "travel", "update",  "vector",  "vendor", "version", "window", "winter", "worker", "zigzag"};
static_assert(std::size(words) == 64);

std::string_view word(Random& random) { return words[random.below(std::size(words))]; }

// Directory `id` of a tree: the directories above it are those of a smaller id.
void append_directory(std::string& out, std::uint64_t id) {
  constexpr std::string_view roots[] = {"/data/anna", "/srv/media", "/usr/share", "/var/lib", "/mnt/backup/2025"};
  if (id < std::size(roots)) {
    out += roots[id];
    return;
  }
  append_directory(out, id / 6);
  Random random(id);
  const std::string_view first = word(random), second = word(random);
  fmt::format_to(std::back_inserter(out), "/{}-{}", first, id % 6 < 3 ? std::string(second) : fmt::format("{}", id));
}

// A time of one day in milliseconds.
void append_time(std::string& out, std::uint64_t at) {
  fmt::format_to(std::back_inserter(out), "2026-11-24T{:02}:{:02}:{:02}.{:03}Z", at / 3'600'000 % 24, at / 60'000 % 60,
                 at / 1000 % 60, at % 1000);
}

constexpr std::uint64_t day_ms = 86'400'000;

// Arguments of a call are drawn in no certain order, so each draw is a statement.
void append_message(std::string& out, Random& random) {
  constexpr std::string_view levels[] = {"INFO", "INFO", "INFO", "DEBUG", "WARN", "ERROR"};
  const std::uint64_t host = random.below(40), process = 1000 + mostly_small(random, 30'000);
  const std::string_view program = word(random), level = levels[random.below(std::size(levels))];
  const std::string_view verb = word(random), object = word(random);
  const std::uint64_t number = random.below(1'000'000), ms = mostly_small(random, 5000);
  fmt::format_to(std::back_inserter(out), " host-{:02} {}[{}]: {} {} {} of {} took {} ms", host, program, process, level, verb,
                 object, number, ms);
}

}  // namespace

std::uint64_t mostly_small(Random& random, std::uint64_t most) {
  const double uniform = static_cast<double>(random.next() >> 11U) * 0x1p-53;
  return static_cast<std::uint64_t>(static_cast<double>(most) * uniform * uniform * uniform);
}

void append_path(std::string& out, Random& random, std::uint64_t /*number*/) {
  constexpr std::string_view endings[] = {"jpg", "txt", "so", "html", "py", "conf"};
  append_directory(out, 30 + mostly_small(random, 20'000));
  const std::string_view name = word(random);
  const std::uint64_t file = random.below(1'000'000);
  fmt::format_to(std::back_inserter(out), "/{}_{:06}.{}", name, file, endings[random.below(std::size(endings))]);
}

void append_link(std::string& out, Random& random, std::uint64_t /*number*/) {
  const std::uint64_t shop = mostly_small(random, 50), shelf = mostly_small(random, 40), item = random.below(100'000'000);
  Random names(shop);
  const std::string_view first = word(names), second = word(names);
  fmt::format_to(std::back_inserter(out), "https://www.{}-{}.example.com/catalogue/{}/{}/item-{:08}", first, second,
                 words[shelf % 8], words[shelf], item);
  if (random.below(3) != 0) return;
  const std::string_view from = word(random);
  fmt::format_to(std::back_inserter(out), "?ref={}&page={}", from, mostly_small(random, 100));
}

void append_dated(std::string& out, Random& random, std::uint64_t /*number*/) {
  append_time(out, random.below(day_ms));
  append_message(out, random);
}

void append_numbered(std::string& out, Random& random, std::uint64_t number) {
  fmt::format_to(std::back_inserter(out), "{:016x} ", random.next());
  append_dated(out, random, number);
}

void append_in_order(std::string& out, Random& random, std::uint64_t number) {
  append_time(out, number / 64);
  fmt::format_to(std::back_inserter(out), " #{:09}", number);
  append_message(out, random);
}

void append_event(std::string& out, Random& random, std::uint64_t /*number*/) {
  out += R"({"ts":")";
  append_time(out, random.below(day_ms));
  const std::uint64_t user = mostly_small(random, 100'000), item = random.below(10'000), ms = mostly_small(random, 5000);
  const std::string_view action = word(random), kind = word(random);
  fmt::format_to(std::back_inserter(out), R"(","user":{},"action":"{}","item":"{}-{}","ms":{}}})", user, action, kind, item, ms);
}

void append_package(std::string& out, Random& random, std::uint64_t /*number*/) {
  constexpr std::string_view processors[] = {"all", "amd64", "arm64", "armhf", "riscv64"};
  const std::uint64_t kind = random.below(5);
  const std::string_view first = word(random), second = word(random);
  switch (kind) {
    case 0:
      fmt::format_to(std::back_inserter(out), "lib{}-{}-dev", first, second);
      break;
    case 1:
      fmt::format_to(std::back_inserter(out), "lib{}-{}-perl", first, second);
      break;
    case 2:
      fmt::format_to(std::back_inserter(out), "python3-{}-{}", first, second);
      break;
    case 3:
      fmt::format_to(std::back_inserter(out), "golang-{}-{}-dev", first, second);
      break;
    default:
      fmt::format_to(std::back_inserter(out), "r-cran-{}{}", first, second);
  }
  const std::uint64_t major = random.below(4), minor = mostly_small(random, 30), patch = mostly_small(random, 300),
                      build = 1 + random.below(6);
  const std::string_view processor = processors[random.below(std::size(processors))];
  fmt::format_to(std::back_inserter(out), " {}.{}.{}-{} {} {}", major, minor, patch, build, processor, random.below(10'000'000));
}

void append_address(std::string& out, Random& random, std::uint64_t /*number*/) {
  const std::uint64_t first = mostly_small(random, 223) + 1, rest = random.next();
  fmt::format_to(std::back_inserter(out), "{}.{}.{}.{}", first, rest % 256, rest / 256 % 256, rest / 65'536 % 256);
}

void append_integer(std::string& out, Random& random, std::uint64_t /*number*/) {
  fmt::format_to(std::back_inserter(out), "{}", random.below(1'000'000'000));
}

void append_visit(std::string& out, Random& random, std::uint64_t number) {
  constexpr std::string_view ends[] = {"ville", "ton", "burg", "ford", " Springs", " Falls", "haven", " St."};
  constexpr std::string_view ways[] = {"Street", "Road", "Lane", "Avenue"};
  const std::uint64_t year = 2020 + random.below(6), month = 1 + random.below(12), day = 1 + random.below(28),
                      city = mostly_small(random, 500), house = 1 + mostly_small(random, 300);
  const std::string_view street = word(random), way = ways[random.below(std::size(ways))];
  const std::uint64_t minutes = random.below(600), cents = random.below(100'000);
  fmt::format_to(std::back_inserter(out), "{},{}-{:02}-{:02},{}{},{} {} {},{},{}.{:02}", number, year, month, day,
                 words[city % std::size(words)], ends[city / std::size(words)], house, street, way, minutes, cents / 100,
                 cents % 100);
}

}  // namespace ecosort::bench
