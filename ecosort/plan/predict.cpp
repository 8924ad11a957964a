#include "plan/predict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace ecosort::planner {

namespace {

constexpr const char* processor = "processor";
constexpr std::array<std::string_view, 6> formation_kernels{"extract",    "index_sort",     "gather",
                                                            "input_hash", "input_checksum", "granule_seal"};
constexpr double giga = 1e9;

const Drive* temp_drive(const Profile& profile) {
  const auto found = std::ranges::find(profile.drives, "temp", &Drive::role);
  return found == profile.drives.end() ? nullptr : &*found;
}

// The measurement of a mode that is most like the wanted one, by powers of two.
const Rate* nearest(const Drive& drive, std::string_view mode, std::uint64_t block_bytes, std::uint64_t depth) {
  const auto apart = [](std::uint64_t a, std::uint64_t b) {
    return std::abs(std::log2(static_cast<double>(a) / static_cast<double>(std::max<std::uint64_t>(b, 1))));
  };
  const Rate* best = nullptr;
  double least = 0;
  for (const Rate& rate : drive.rates) {
    const double distance = apart(rate.block_bytes, block_bytes) + apart(rate.depth, depth);
    if (rate.mode != mode || (best != nullptr && distance >= least)) continue;
    best = &rate;
    least = distance;
  }
  return best;
}

// Of run formation in the CPU time: from the kernels' costs, else one half.
double formation_share(const std::map<std::string, double>& kernel_ns) {
  double total = 0, own = 0;
  for (const auto& [name, ns] : kernel_ns) {
    total += ns;
    if (std::ranges::find(formation_kernels, name) != formation_kernels.end()) own += ns;
  }
  return total > 0 ? own / total : 0.5;
}

// Of the merge: records * log2(runs merged). The last step merges all records, the ones before it some of them once more;
// steps of more runs merge more records.
double comparisons(const Plan& plan) {
  const std::vector<MergeStep>& steps = plan.merge.steps;
  if (steps.empty()) return 0;
  const auto fan_in = [](const MergeStep& step) { return static_cast<double>(std::max(step.fan_in, 1U)); };
  const double last = static_cast<double>(plan.wanted.input_records) * std::log2(fan_in(steps.back()));
  const double again = static_cast<double>(plan.remerged_bytes) / plan.wanted.format.record_size;
  double runs = 0, weighted = 0;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    runs += fan_in(steps[i]);
    weighted += fan_in(steps[i]) * std::log2(fan_in(steps[i]));
  }
  return runs > 0 ? last + again * weighted / runs : last;
}

// Reads and writes, by the sizes of the blocks: each costs processor time besides that of its bytes.
double requests(const Plan& plan) {
  const auto count = [](std::uint64_t bytes, std::uint64_t block_bytes) {
    return block_bytes == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(block_bytes);
  };
  const std::uint64_t size = plan.wanted.input_records * plan.wanted.format.record_size;
  const std::uint64_t stored = plan.run_bytes + plan.remerged_bytes;
  const MergeBuffers& merge = plan.merge.final;
  return count(size, plan.formation.read_block_bytes) + count(stored, plan.formation.write_block_bytes) +
         count(stored, merge.block_bytes) + count(size, merge.output_block_bytes);
}

// Run formation reads its input in order, the merge reads blocks anywhere.
void add_drive_times(PhasePrediction& phase, const Drive& drive, const Plan& plan, bool merges) {
  const std::uint64_t merge_block = merges ? plan.merge.final.block_bytes : 0;
  const std::uint64_t read_block = merge_block != 0 ? merge_block : plan.formation.read_block_bytes;
  const Rate* const reading = nearest(drive, merges ? "random" : "read", read_block, plan.read_depth);
  const Rate* const writing = nearest(drive, "write", plan.formation.write_block_bytes, plan.write_depth);
  const Rate* const both = nearest(drive, "mixed", read_block, plan.read_depth + plan.write_depth);
  const auto read = static_cast<double>(phase.bytes_read), written = static_cast<double>(phase.bytes_written);
  if (reading != nullptr && reading->read_bytes_per_s > 0)
    phase.times.emplace_back("drive read", read / reading->read_bytes_per_s);
  if (writing != nullptr && writing->write_bytes_per_s > 0)
    phase.times.emplace_back("drive write", written / writing->write_bytes_per_s);
  const double together = both == nullptr ? 0 : both->read_bytes_per_s + both->write_bytes_per_s;
  if (together <= 0 || read <= 0 || written <= 0) return;
  // What one direction has more than the other follows alone.
  const Rate* const more = read > written ? reading : writing;
  const double rate = more == nullptr ? 0 : read > written ? more->read_bytes_per_s : more->write_bytes_per_s;
  const double rest = rate > 0 ? std::abs(read - written) / rate : 0;
  phase.times.emplace_back("drive, reading and writing at once", 2 * std::min(read, written) / together + rest);
}

double slowest(const PhasePrediction& phase, double drive_part, double processor_part) {
  double most = 0;
  for (const auto& [name, seconds] : phase.times)
    most = std::max(most, seconds * (name == processor ? processor_part : drive_part));
  return phase.factor * most;
}

// Where all runs stay in memory the phases do other work, with factors of their own if such a sort was measured.
double factor_of(const Profile& profile, const std::string& phase, bool in_memory) {
  const auto& factors = profile.time_factor;
  auto found = in_memory ? factors.find(phase == "merge" ? "merge_resident" : "read_and_sort") : factors.end();
  if (found == factors.end()) found = factors.find(phase);
  return found == factors.end() ? 1.0 : found->second;
}

std::vector<PhasePrediction> phases_of(const Plan& plan) {
  const std::uint64_t merge_read = plan.run_bytes + plan.remerged_bytes;
  return {{.name = "run_formation", .bytes_read = plan.bytes_read - merge_read, .bytes_written = plan.run_bytes, .times = {}},
          {.name = "merge", .bytes_read = merge_read, .bytes_written = plan.bytes_written - plan.run_bytes, .times = {}}};
}

std::vector<std::string> notes_of(const Profile& profile) {
  std::vector<std::string> notes;
  if (profile.drives.size() > 1) notes.emplace_back("predicted as if all were on the first drive of the profile");
  if (profile.time_factor.empty())
    notes.emplace_back("no measured runs: the time is that of the slowest resource, and a real sort takes longer");
  if (!profile.power)
    notes.emplace_back("no joules: the profile has no power model (ecosort-tune fit with results of ecosort-power)");
  return notes;
}

}  // namespace

const std::string& PhasePrediction::bottleneck() const {
  return std::ranges::max_element(times, {}, &std::pair<std::string, double>::second)->first;
}

Forecast predict(const Plan& plan, const Profile& profile) {
  if (plan.shape == Shape::unknown) return {.prediction = {}, .absent = "the size of the input is not known"};
  if (plan.shape == Shape::empty) return {.prediction = {}, .absent = "there is nothing to sort"};
  if (plan.packing.coders > 0)
    return {.prediction = {}, .absent = "runs are compressed, and what that saves shows in their first blocks only"};
  const Drive* const drive = temp_drive(profile);
  if (drive == nullptr)
    return {.prediction = {}, .absent = "the profile has no drive for sorted runs: ecosort-tune probe --temp DIR"};
  if (!profile.cpu) return {.prediction = {}, .absent = "the profile has no model of the processor: ecosort-tune fit RUNS..."};
  const CpuModel& cpu = *profile.cpu;
  Prediction found{.phases = phases_of(plan), .joules = {}, .notes = notes_of(profile)};
  found.bytes_moved = plan.bytes_read + plan.bytes_written;
  found.temp_bytes = plan.temp_bytes;
  const auto moved = static_cast<double>(found.bytes_moved);
  found.cpu_s = cpu.fixed_s + cpu.per_record_s * static_cast<double>(plan.wanted.input_records) + cpu.per_byte_s * moved +
                cpu.per_comparison_s * comparisons(plan) + cpu.per_memory_byte_s * static_cast<double>(plan.peak_memory_bytes) +
                cpu.per_request_s * requests(plan);
  const double share = formation_share(profile.kernel_ns);
  double with_drive = 0, with_processor = 0;
  for (PhasePrediction& phase : found.phases) {
    const bool merges = phase.name == "merge";
    add_drive_times(phase, *drive, plan, merges);
    const unsigned threads = merges ? plan.wanted.threads_of_merge() : plan.wanted.threads;
    phase.times.emplace_back(processor, (merges ? 1 - share : share) * found.cpu_s / threads);
    phase.factor = factor_of(profile, phase.name, plan.stored_records == 0);
    phase.seconds = slowest(phase, 1, 1);
    found.seconds += phase.seconds;
    with_drive += slowest(phase, 0.5, 1);
    with_processor += slowest(phase, 1, 0.5);
  }
  found.saved_by_drive_s = found.seconds - with_drive;
  found.saved_by_processor_s = found.seconds - with_processor;
  if (profile.power)
    found.joules =
        profile.power->idle_w * found.seconds + profile.power->core_w * found.cpu_s + profile.power->gb_j * moved / giga;
  return {.prediction = std::move(found), .absent = ""};
}

}  // namespace ecosort::planner
