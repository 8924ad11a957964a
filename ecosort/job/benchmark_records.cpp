#include "job/benchmark_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/memory.h"
#include "codec/contents.h"
#include "io/read_at.h"
#include "sortbenchmark/gensort.h"

namespace ecosort::job {

namespace {

using sortbenchmark::gensort_record_bytes;

constexpr std::uint64_t looked_at_once = 4;  // records, at each place

// The first one of `bytes` begins a record.
bool all_look_generated(std::span<const std::byte> bytes) {
  for (; bytes.size() >= gensort_record_bytes; bytes = bytes.subspan(gensort_record_bytes))
    if (!sortbenchmark::looks_generated(bytes.data())) return false;
  return true;
}

[[noreturn]] void refuse(const std::string& name, std::span<const std::byte> first) {
  const std::string_view text(reinterpret_cast<const char*>(first.data()), first.size());
  if (const codec::Contents* const found = codec::contents_of(text, name))
    throw UsageError(fmt::format("'{}' is {}, and holds no records; {}", name, found->is, found->advice));
  throw UnlikelyRecords(name);
}

// The numbers of the first records at the three places.
std::array<std::uint64_t, 3> places(std::uint64_t records) {
  const std::uint64_t last = records - std::min(records, looked_at_once);
  return {0, last / 2, last};
}

}  // namespace

UnlikelyRecords::UnlikelyRecords(const std::string& input)
    : UsageError(fmt::format("'{}' does not look like records of the Sort Benchmark", input)), name(input) {}

// The sort reports a file that cannot be read.
void require_benchmark_records(const io::File& file) {
  const std::uint64_t bytes = file.facts().bytes_to_read(), records = bytes / gensort_record_bytes;
  if (bytes == 0) return;
  MemoryBudget memory(2 * round_up(looked_at_once * gensort_record_bytes, std::max<std::size_t>(file.alignment(), page_bytes)));
  const Buffer buffer = memory.allocate(memory.limit_bytes(), "first look", Pages::small);
  const std::uint64_t size = std::min(std::max<std::uint64_t>(records, 1), looked_at_once) * gensort_record_bytes;
  if (records == 0) {
    const auto all = io::try_read_at(file, file.facts().start_offset, bytes, buffer);
    if (!all.empty()) refuse(file.path(), all);
  }
  for (const std::uint64_t place : places(records))
    if (!all_look_generated(io::try_read_at(file, file.facts().start_offset + place * gensort_record_bytes, size, buffer)))
      refuse(file.path(), io::try_read_at(file, file.facts().start_offset, size, buffer));
}

std::function<void(std::span<const std::byte>)> look_at_stream(std::string name) {
  return [name = std::move(name)](std::span<const std::byte> first) {
    const std::uint64_t records = first.size() / gensort_record_bytes;
    const std::uint64_t size = std::min(records, looked_at_once) * gensort_record_bytes;
    for (const std::uint64_t place : places(records))
      if (!all_look_generated(first.subspan(place * gensort_record_bytes, size))) refuse(name, first);
  };
}

}  // namespace ecosort::job
