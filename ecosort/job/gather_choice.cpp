#include "job/gather_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

#include "base/errors.h"
#include "base/memory.h"
#include "base/thread_time.h"
#include "io/read_at.h"
#include "planner/gather_plan.h"

namespace ecosort::job {

namespace {

using Duration = std::chrono::duration<double, std::micro>;

// A drive with seeks takes 4 ms and more, and one that is asked over a network 0.5 ms.
constexpr Duration most_read_time{400};
constexpr std::size_t probes = 15;
constexpr std::uint64_t most_probe_bytes = std::uint64_t{64} << 10U;

// Returns the median time of reads at places all over the file, without what the thread then waited for a processor.
Duration time_of_read(const engine::fixed::Input& input, std::uint64_t record_size) {
  const std::uint64_t bytes = round_up(std::min(record_size, most_probe_bytes), page_bytes);
  MemoryBudget memory(bytes);
  const Buffer buffer = memory.allocate(bytes, "reads that measure a drive", Pages::small);
  std::array<Duration, probes> times{};
  const OwnThreadTimes own;
  for (std::size_t i = 0; i < probes; ++i) {
    const std::uint64_t record = input.records * (i * 7 % probes) / probes;  // neither forward nor backward
    const double ready_s = own.now().ready_s;
    const auto begin = std::chrono::steady_clock::now();
    (void)io::read_at(*input.file, round_down(input.begin() + record * record_size, page_bytes), buffer.data(), bytes);
    times[i] = std::chrono::steady_clock::now() - begin;
    times[i] -= std::chrono::duration<double>(own.now().ready_s - ready_s);
  }
  std::ranges::nth_element(times, times.begin() + probes / 2);
  return times[probes / 2];
}

// The page cache would answer sooner than the drive.
bool bypass_page_cache(const std::vector<engine::fixed::Input>& inputs) {
  return std::ranges::all_of(inputs, [](const auto& input) { return input.file->is_direct() && !input.file->facts().is_stream; });
}

}  // namespace

std::string choose_gather(planner::RecordPlan& plan, const std::vector<engine::fixed::Input>& inputs, const std::string& asked) {
  if (asked != "auto" && asked != "always" && asked != "never")
    throw UsageError(fmt::format("gather '{}' must be auto, always or never", asked));
  const auto found = planner::plan_gather(plan);
  if (!found || asked == "never") return "";
  if (asked == "always") {
    plan = *found;
    return "records are read where they lie, as asked";
  }
  if (!bypass_page_cache(inputs)) return "records are moved in runs, because the inputs are read through the page cache";
  Duration slowest{0};
  for (const engine::fixed::Input& input : inputs)
    if (input.records > 0) slowest = std::max(slowest, time_of_read(input, plan.wanted.format.record_size));
  const std::string measured = fmt::format("a read at any place takes {:.0f} us", slowest.count());
  if (slowest > most_read_time)
    return fmt::format("records are moved in runs, because {}, more than {:.0f} us", measured, most_read_time.count());
  plan = *found;
  return fmt::format("records are read where they lie, because {}", measured);
}

}  // namespace ecosort::job
