#include "job/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

#include "base/errors.h"
#include "base/memory.h"
#include "io/read_at.h"
#include "planner/account.h"
#include "run/packing_sample.h"

namespace ecosort::job {
namespace {

// Memory of a sample, with the index of its records; and of how many stretches it consists at least, and at most.
constexpr std::uint64_t most_sample_bytes = std::uint64_t{64} << 20U;
constexpr std::uint64_t least_stretches = 4, most_stretches = 16;

// Stretches of the input, evenly spread, none longer than the longest run.
struct Stretches {
  std::uint64_t count = 0, records = 0, all_records = 0;

  [[nodiscard]] std::uint64_t begin(std::uint64_t number) const noexcept {
    return count == 1 ? 0 : number * ((all_records - records) / (count - 1));
  }
};

// Returns the records of the longest run, be it formed or merged from others.
std::uint64_t longest_run(const planner::RecordPlan& plan) {
  std::uint64_t longest = 1;
  (void)planner::run_traffic(plan, [&](std::uint64_t records) {
    longest = std::max(longest, records);
    return std::uint64_t{0};
  });
  return longest;
}

Stretches stretches_of(const planner::RecordPlan& plan) {
  const std::uint64_t each = plan.wanted.format.record_size + 2 * planner::entry_bytes;
  const std::uint64_t most_records = most_sample_bytes / each, run = longest_run(plan);
  Stretches stretches{.all_records = plan.wanted.input_records};
  stretches.count = std::clamp(most_records / run, least_stretches, most_stretches);
  stretches.records = std::clamp<std::uint64_t>(most_records / stretches.count, 1, run);
  stretches.count = std::min(stretches.count, stretches.all_records / stretches.records);
  return stretches;
}

// Reads bytes [from, from + to.size()) of the records of a file.
void read_part(const engine::fixed::Input& input, std::uint64_t from, std::span<std::byte> to, Buffer& memory) {
  const std::uint64_t offset = input.begin() + from, unit = input.file->alignment();
  const std::uint64_t begin = round_down(offset, unit), end = round_up(offset + to.size(), unit);
  const std::size_t got = io::read_at(*input.file, begin, memory.data(), end - begin);
  if (got < offset - begin + to.size())
    throw IoError(fmt::format("'{}' ended at byte {} while a sample of it was read", input.file->path(), begin + got));
  std::memcpy(to.data(), memory.data() + (offset - begin), to.size());
}

// The bytes of all records of the inputs from the byte `first` on.
void read_stretch(const std::vector<engine::fixed::Input>& inputs, std::uint64_t record_size, std::uint64_t first,
                  std::span<std::byte> to, Buffer& memory) {
  for (const engine::fixed::Input& input : inputs) {
    const std::uint64_t size = input.records * record_size,
                        here = std::min<std::uint64_t>(size - std::min(first, size), to.size());
    if (here > 0) read_part(input, first, to.first(here), memory);
    to = to.subspan(here);
    first -= std::min(first, size);
  }
}

void take_sample(const planner::RecordPlan& plan, const std::vector<engine::fixed::Input>& inputs, const Stretches& stretches,
                 run::PackingSample& sample) {
  const std::uint64_t record_size = plan.wanted.format.record_size, bytes = stretches.records * record_size;
  std::uint64_t unit = page_bytes;
  for (const engine::fixed::Input& input : inputs) unit = std::max<std::uint64_t>(unit, input.file->alignment());
  MemoryBudget budget(std::numeric_limits<std::uint64_t>::max());
  Buffer memory = budget.allocate(round_up(bytes, unit) + 2 * unit, "a part of a sample", Pages::small);
  std::vector<std::byte> stretch(bytes);
  for (std::uint64_t number = 0; number < stretches.count; ++number) {
    read_stretch(inputs, record_size, stretches.begin(number) * record_size, stretch, memory);
    sample.add(stretch);
  }
}

// Returns the pace that a sort of this plan will find, if its runs are not compressed.
run::Pace pace_of(const planner::RecordPlan& plan, const planner::Prediction& plain) {
  const planner::PhasePrediction& formation = plain.phases.front();
  double drive_s = 0, processor_s = 0;
  for (const auto& [name, seconds] : formation.times) {
    double& most = name == planner::processor ? processor_s : drive_s;
    most = std::max(most, seconds);
  }
  const auto moved = static_cast<double>(formation.bytes_read + formation.bytes_written);
  const auto input = static_cast<double>(plan.wanted.input_records * plan.wanted.format.record_size);
  return {.drive_s = drive_s / moved, .compute_s = processor_s / input, .threads = plan.wanted.threads};
}

}  // namespace

planner::MaybePrediction predict(const planner::RecordPlan& plan, const std::vector<engine::fixed::Input>& inputs,
                                 const planner::Profile& profile) {
  planner::MaybePrediction plain = planner::predict(plan, profile);
  if (plan.packing.coders == 0 || !plain.prediction) return plain;
  if (inputs.empty())
    return {.prediction = {},
            .absent = "runs are compressed, and without an input there is no sample that shows what that saves"};
  try {
    const Stretches stretches = stretches_of(plan);
    run::PackingSample sample(plan, stretches.records);
    take_sample(plan, inputs, stretches, sample);
    const std::vector<run::Trial> trials = sample.trials(std::min(plan.formation.run_records, plan.wanted.input_records));
    const run::CodecChoice choice = run::choose_terms(plan.packing, pace_of(plan, *plain.prediction), trials);
    return planner::predict(plan, profile, sample.packed(choice));
  } catch (const IoError& error) {
    return {.prediction = {}, .absent = fmt::format("runs are compressed, and no sample could be taken: {}", error.what())};
  }
}

}  // namespace ecosort::job
