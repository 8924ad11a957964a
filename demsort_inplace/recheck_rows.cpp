#include "demsort_inplace/recheck_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"
#include "demsort_inplace/durable_job.h"
#include "demsort_inplace/recheck.h"
#include "engine/rows/reread_lines.h"

namespace ecosort::demsort_inplace {

namespace {

struct ReadBack {
  hash::MultisetHash found, expected;
  bool in_order = false;
  [[nodiscard]] bool is_as_written() const { return found == expected && in_order; }
};

void require_memory(const LinesBench& bench, std::size_t longest) {
  const std::uint64_t need = engine::rows::RereadLines::memory_bytes(longest, bench.job.plan.block_bytes);
  if (need <= bench.memory.limit_bytes() - bench.memory.used_bytes()) return;
  throw NotEnoughMemory(
      fmt::format("{} of {} bytes are too long to be read back with this memory", bench.header.lines->items(), longest),
      bench.memory.limit_bytes(), bench.memory.used_bytes() + need);
}

// Reads back what the file holds by `state`.
Task<ReadBack> read_back(LinesBench& bench, const io::File& file, const State& state) {
  const RunDone* const header = bench.header_run();
  const std::uint64_t header_bytes = header == nullptr ? 0 : header->lines->bytes;
  const engine::rows::WrittenLines written{.file = file,
                                           .mark_bytes = bench.header.lines->mark_bytes,
                                           .header_bytes = header_bytes,
                                           .bytes = state.lines->bytes,
                                           .longest = std::max<std::size_t>(bench.longest_line(), header_bytes)};
  require_memory(bench, written.longest);
  engine::rows::RereadLines rereader(bench.tools(bench.job.plan), written);
  rereader.stop_for(bench.interrupted);
  co_await rereader.run();
  const hash::MultisetHash of_header = header == nullptr ? hash::MultisetHash{} : header->tally.hash;
  co_return ReadBack{rereader.hash(), state.hash + of_header, rereader.in_order()};
}

}  // namespace

Task<void> recheck_rows(LinesBench& bench, const io::File& file) {
  const ReadBack back = co_await read_back(bench, file, *bench.state);
  if (!back.is_as_written())
    refuse_output(bench, file, {back.found, back.expected, bench.header.lines->items(), "it is not in order"});
}

Task<void> reread_rows(LinesBench& bench, const io::File& file, const State& end) {
  const ReadBack back = co_await read_back(bench, file, end);
  if (!back.is_as_written()) refuse_reread(bench);
}

}  // namespace ecosort::demsort_inplace
