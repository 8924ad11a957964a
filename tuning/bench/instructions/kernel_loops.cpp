// Runs one kernel at one level of instructions, so that its instructions can be counted: kernel_loops KERNEL LEVEL PASSES
//
// One pass has 1000 items: records, lines, rows or numbers. Two runs with different numbers of passes differ by the kernel alone.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cpu_features.h"
#include "base/random.h"
#include "codec/transpose.h"
#include "formats/csv/csv_kernels.h"
#include "formats/lines/line_kernels.h"
#include "formats/lines/number_window.h"
#include "formats/shuffle/random_keys.h"
#include "hash/block_checksum.h"
#include "hash/multiset_hash.h"
#include "sortbenchmark/valsort_crc.h"

namespace ecosort::bench {
namespace {

constexpr std::size_t items = 1000;  // records, or rows of text

// Holds what kernels work on: rows of text in one piece, and records.
struct Data {
  Data() {
    Random random(1);
    for (std::size_t i = 0; i < items; ++i) {
      add_line(random);
      add_row(random);
    }
    lines.append(lines::line_slack_bytes, '\0');
    rows.append(lines::line_slack_bytes, '\0');
    records.resize(items * 100);
    for (std::byte& byte : records) byte = static_cast<std::byte>(random.next());
  }

  std::string lines, rows;                                // 60 to 140 bytes; a table as of `ecosort_make_lines table`
  std::vector<lines::LinePlace> line_places, row_places;  // without their ends
  std::vector<sorting::Entry> line_entries;
  std::vector<std::string> numbers;
  std::vector<std::byte> records, out = std::vector<std::byte>(items * 256);

 private:
  void add_line(Random& random) {
    line_entries.push_back({.prefix = 0, .extension = 0, .index = static_cast<std::uint32_t>(lines.size())});
    const std::size_t size = 60 + random.below(81);
    for (std::size_t i = 0; i < size; ++i) lines += static_cast<char>(' ' + 1 + random.below(90));
    lines += '\n';
  }
  void add_row(Random& random) {
    numbers.push_back((random.below(2) == 0 ? "-" : "") + std::to_string(random.below(10000000)) + '.' +
                      std::to_string(10 + random.below(90)));
    rows += std::to_string(1000000 + random.below(9000000)) + ",a city of some name," + numbers.back() + ",2026-11-28,word\n";
  }
};

std::vector<lines::LinePlace> places_in(std::string_view text) {
  std::vector<lines::LinePlace> places;
  for (std::size_t at = 0; places.size() < items;) {
    const std::size_t end = text.find('\n', at);
    places.push_back({text.data() + at, end - at});
    at = end + 1;
  }
  return places;
}

// Calls `scan` with pieces of whole 64 bytes.
template <class Scan>
void by_pieces(std::string_view text, const Scan& scan) {
  for (std::size_t at = 0; at < text.size(); at += lines::split_bytes)
    scan(text.data() + at, std::min(lines::split_bytes, text.size() - at));
}

using Pass = std::function<void(Data&, CpuLevel)>;

void put_in_order(Data& data, CpuLevel level) {
  std::array<std::uint32_t, lines::gathered_lines> sizes{};
  const sorting::Entry* const first = data.line_entries.data();
  for (std::size_t i = 0; i < items;) {
    i += lines::line_kernels_of(level).gather({.text = data.lines.data(),
                                               .next = first + i,
                                               .end = first + items,
                                               .to = reinterpret_cast<char*>(data.out.data()),
                                               .room = data.out.size()},
                                              sizes.data());
  }
}

const std::pair<const char*, Pass> passes[] = {
    {"hash_100", [](Data& d, CpuLevel level) { hash::hash_records_variant(level)(d.records.data(), items, 100); }},
    {"hash_16", [](Data& d, CpuLevel level) { hash::hash_records_variant(level)(d.records.data(), items, 16); }},
    {"crc_100", [](Data& d, CpuLevel level) { sortbenchmark::crc_sum_variant(level)(d.records.data(), items); }},
    {"checksum_100", [](Data& d, CpuLevel level) { hash::block_checksum_variant(level)(d.records.data(), items * 100, 1); }},
    {"transpose_100",
     [](Data& d, CpuLevel level) { codec::transpose_variant(level)(d.records.data(), items, 100, d.out.data()); }},
    {"count_lines", [](Data& d, CpuLevel level) { lines::line_kernels_of(level).count(d.lines.data(), d.lines.size(), '\n'); }},
    {"split_lines",
     [](Data& d, CpuLevel level) {
       static std::uint32_t offsets[lines::split_room];
       by_pieces(d.lines,
                 [&](const char* at, std::size_t size) { lines::line_kernels_of(level).split(at, size, '\n', offsets); });
     }},
    {"find_line_end",
     [](Data& d, CpuLevel level) {
       const char *at = d.lines.data(), *const end = at + d.lines.size();
       for (std::size_t i = 0; i < items; ++i) at = lines::line_kernels_of(level).find(at, end, '\n') + 1;
     }},
    {"gather_lines", put_in_order},
    {"hash_lines", [](Data& d, CpuLevel level) { lines::line_kernels_of(level).sum(d.line_places.data(), items); }},
    {"scan_csv",
     [](Data& d, CpuLevel level) {
       static csv::Scan scan;
       by_pieces(d.rows, [&](const char* at, std::size_t size) { csv::csv_kernels_of(level).simple.scan(at, size, {}, scan); });
     }},
    {"csv_field_3",
     [](Data& d, CpuLevel level) {
       for (const lines::LinePlace row : d.row_places) csv::csv_kernels_of(level).simple.field(row.begin, row.size, {}, 2);
     }},
    {"plain_csv_row",
     [](Data& d, CpuLevel level) {
       const char* const end = d.rows.data() + d.rows.size();
       for (const lines::LinePlace row : d.row_places)
         csv::csv_kernels_of(level).simple.plain_row(row.begin, static_cast<std::size_t>(end - row.begin), {}, 2);
     }},
    {"hash_csv_rows", [](Data& d, CpuLevel level) { lines::line_kernels_of(level).sum(d.row_places.data(), items); }},
    {"read_number",
     [](Data& d, CpuLevel level) {
       for (const std::string& number : d.numbers) lines::number_reader_of(level)(number.data(), number.size());
     }},
    {"random_keys",
     [](Data& d, CpuLevel level) {
       constexpr std::uint64_t seed = 7;
       sorting::Entry* const top = d.line_entries.data() + items;
       const std::size_t done = shuffle::keys_of_rows(level)(top, items, 0, {seed, 0});
       for (std::size_t row = done; row < items; ++row) {
         const records::KeyWindow key = shuffle::RandomKeys(seed).of(row);
         *(top - 1 - row) = {.prefix = key.prefix, .extension = key.extension, .index = 0};
       }
     }},
};

int run(std::string_view name, std::string_view level_name, int count) {
  const CpuLevel level = parse_cpu_level(level_name);
  const auto* const found =
      std::find_if(std::begin(passes), std::end(passes), [&](const auto& pass) { return name == pass.first; });
  if (found == std::end(passes) || level > detected_cpu_level()) return 2;
  Data data;
  data.line_places = places_in(data.lines);
  data.row_places = places_in(data.rows);
  for (int i = 0; i < count; ++i) found->second(data, level);
  return 0;
}

}  // namespace
}  // namespace ecosort::bench

int main(int count, char** words) {
  try {
    return count == 4 ? ecosort::bench::run(words[1], words[2], std::atoi(words[3])) : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kernel_loops: %s\n", error.what());
    return 2;
  }
}
