// Kinds of lines as people have them, for benchmarks of EcoSort's steps and of its peers.
#pragma once

#include <string>

#include "bench_support.h"
#include "line_input/peoples_text.h"
#include "rows/row_steps.h"

namespace ecosort::bench {

inline constexpr std::size_t merged_runs = 47;

// `use(kind, shape)` of each kind.
template <class Use>
void for_peoples_lines(const Use& use) {
  use("paths", PeoplesLines<append_path>{});
  use("links", PeoplesLines<append_link>{});
  use("dated", PeoplesLines<append_dated>{});
  use("events", PeoplesLines<append_event>{});
  use("packages", PeoplesLines<append_package>{});
  use("integers", PeoplesLines<append_integer>{});
  use("random", LineShape{});
}

inline void add_step(const std::string& name, void (*step)(benchmark::State&)) {
  benchmark::RegisterBenchmark(("rows/" + name).c_str(), step)->Unit(benchmark::kMillisecond);
}

inline void set_per_row(benchmark::State& state, std::size_t rows) {
  state.counters["per_row"] =
      benchmark::Counter(static_cast<double>(rows), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

}  // namespace ecosort::bench
