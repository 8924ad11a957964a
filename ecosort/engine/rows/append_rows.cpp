#include "engine/rows/append_rows.h"

#include <algorithm>
#include <string>

namespace ecosort::engine::rows {

std::uint64_t RowsRest::bytes() const {
  std::uint64_t bytes = 0;
  for (std::size_t i = from.input; i < inputs.size(); ++i)
    bytes += inputs[i].file->facts().size_bytes - (i == from.input ? from.offset : 0);
  return bytes;
}

AppendRows::AppendRows(const RowTools& tools, FirstRows& first_rows, RowsRest& rest)
    : tools_(tools), reader_(tools_, first_rows, rest.inputs, seen_), former_(tools_, reader_, seen_, GroupPolicy{}) {
  reader_.begin_at(rest.from);
}

Task<void> AppendRows::append_to(LineSink& sink) {
  lines::LineRun run;
  run.memory = tools_.bench.memory.allocate(tools_.plan.run_buffer_bytes, "run buffer", tools_.plan.pages);
  while (!reader_.at_end()) {
    co_await reader_.fill(run);
    if (run.count == 0) continue;
    run.is_ordered = true;  // they keep their order
    (void)co_await former_.sort(run);
    const std::string beginning = co_await sink.take_back_rest();
    lines::GatherLines gather(run, tools_.format, lines::GatherLines::Checks::hashed);
    gather.set_header(beginning);
    co_await former_.gather_to(gather, sink);
    written_ += gather.hash();
    longest_ = std::max(longest_, gather.longest());
  }
}

}  // namespace ecosort::engine::rows
