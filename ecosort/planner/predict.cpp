#include "planner/predict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "planner/account.h"
#include "planner/logarithm.h"

namespace ecosort::planner {

namespace {

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
    return std::abs(logarithm_of(static_cast<double>(a) / static_cast<double>(std::max<std::uint64_t>(b, 1))));
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

// Returns the share of run formation in the CPU time: from the kernels' costs, else one half.
double formation_share(const std::map<std::string, double>& kernel_ns) {
  double total = 0, own = 0;
  for (const auto& [name, ns] : kernel_ns) {
    total += ns;
    if (std::ranges::find(formation_kernels, name) != formation_kernels.end()) own += ns;
  }
  return total > 0 ? own / total : 0.5;
}

// Counts the work of the merge: records * log2(runs merged). The last step merges all records, the ones before it some of them
// once more; steps of more runs merge more records.
double comparisons(const RecordPlan& plan) {
  const std::vector<MergeStep>& steps = plan.merge.steps;
  if (steps.empty()) return 0;
  const auto fan_in = [](const MergeStep& step) { return static_cast<double>(std::max(step.fan_in, 1U)); };
  const double last = static_cast<double>(plan.wanted.input_records) * logarithm_of(fan_in(steps.back()));
  const double again = static_cast<double>(plan.remerged_bytes) / plan.wanted.format.record_size;
  double runs = 0, weighted = 0;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    runs += fan_in(steps[i]);
    weighted += fan_in(steps[i]) * logarithm_of(fan_in(steps[i]));
  }
  return runs > 0 ? last + again * weighted / runs : last;
}

// Reads and writes, by the sizes of the blocks: each costs processor time besides that of its bytes.
double requests(const RecordPlan& plan) {
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
void add_drive_times(PhasePrediction& phase, const Drive& drive, const RecordPlan& plan, bool merges) {
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
  // Only one direction moves the surplus, so it moves alone.
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

// Chooses the factor: where all runs stay in memory the phases do other work, with factors of their own if such a sort was
// measured.
double factor_of(const Profile& profile, const std::string& phase, bool in_memory) {
  const auto& factors = profile.time_factor;
  auto found = in_memory ? factors.find(phase == "merge" ? "merge_resident" : "read_and_sort") : factors.end();
  if (found == factors.end()) found = factors.find(phase);
  return found == factors.end() ? 1.0 : found->second;
}

// Says what compression changes: what is moved of runs, and the work of coders in each phase.
struct Packing {
  RunTraffic traffic;
  double formation_s = 0, merge_s = 0;  // of threads
};

Packing as_planned(const RecordPlan& plan) { return {.traffic = {plan.run_bytes, plan.remerged_bytes, plan.temp_bytes}}; }

Packing as_packed(const RecordPlan& plan, const SampledPacking& packed) {
  const auto stored = static_cast<double>(plan.stored_records * plan.wanted.format.record_size);
  const auto remerged = static_cast<double>(plan.remerged_bytes);
  return {.traffic = run_traffic(plan, [&](std::uint64_t records) { return packed.run_bytes(plan.run_block, records); }),
          .formation_s = packed.pack_s * stored,
          .merge_s = packed.pack_s * remerged + packed.unpack_s * (stored + remerged)};
}

std::vector<PhasePrediction> phases_of(const RecordPlan& plan, const RunTraffic& runs) {
  const std::uint64_t planned = plan.run_bytes + plan.remerged_bytes;
  return {{.name = "run_formation", .bytes_read = plan.bytes_read - planned, .bytes_written = runs.at_first, .times = {}},
          {.name = "merge",
           .bytes_read = runs.at_first + runs.remerged,
           .bytes_written = plan.bytes_written - planned + runs.remerged,
           .times = {}}};
}

// Fewer coders than threads may hold the threads up.
double processor_s(const RecordPlan& plan, double sort_s, double coders_s, unsigned threads) {
  const unsigned coders = plan.packing.coders == 0 ? threads : std::min(plan.packing.coders, threads);
  return std::max((sort_s + coders_s) / threads, coders_s / coders);
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

// Without the work of coders.
double sort_cpu_s(const RecordPlan& plan, const CpuModel& cpu, double moved_bytes) {
  return cpu.fixed_s + cpu.per_record_s * static_cast<double>(plan.wanted.input_records) + cpu.per_byte_s * moved_bytes +
         cpu.per_comparison_s * comparisons(plan) + cpu.per_memory_byte_s * static_cast<double>(plan.peak_memory_bytes) +
         cpu.per_request_s * requests(plan);
}

// Why nothing can be predicted; empty: it can.
std::string absent_because(const RecordPlan& plan, const Profile& profile) {
  if (plan.shape == Shape::unknown) return "the size of the input is not known";
  if (plan.shape == Shape::empty) return "there is nothing to sort";
  if (plan.shape == Shape::gathered) return "the profile has no rates of reads of single records";
  if (temp_drive(profile) == nullptr) return "the profile has no drive for sorted runs: run ecosort-tune probe --temp DIR";
  return profile.cpu ? "" : "the profile has no model of the processor: ecosort-tune fit RUNS...";
}

// The profile has all that it takes.
Prediction predict_with(const RecordPlan& plan, const Profile& profile, const Packing& packing) {
  Prediction found{.phases = phases_of(plan, packing.traffic), .joules = {}, .packing = {}, .notes = notes_of(profile)};
  for (const PhasePrediction& phase : found.phases) found.bytes_moved += phase.bytes_read + phase.bytes_written;
  found.temp_bytes = packing.traffic.at_most;
  const auto moved = static_cast<double>(found.bytes_moved);
  const double sort_s = sort_cpu_s(plan, *profile.cpu, moved), share = formation_share(profile.kernel_ns);
  found.cpu_s = sort_s + packing.formation_s + packing.merge_s;
  double with_drive = 0, with_processor = 0;
  for (PhasePrediction& phase : found.phases) {
    const bool merges = phase.name == "merge";
    add_drive_times(phase, *temp_drive(profile), plan, merges);
    const unsigned threads = merges ? plan.wanted.threads_of_merge() : plan.wanted.threads;
    const double own_s = (merges ? 1 - share : share) * sort_s, coders_s = merges ? packing.merge_s : packing.formation_s;
    phase.times.emplace_back(processor, processor_s(plan, own_s, coders_s, threads));
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
  return found;
}

}  // namespace

const std::string& PhasePrediction::bottleneck() const {
  return std::ranges::max_element(times, {}, &std::pair<std::string, double>::second)->first;
}

MaybePrediction predict(const RecordPlan& plan, const Profile& profile) {
  if (std::string absent = absent_because(plan, profile); !absent.empty()) return {.prediction = {}, .absent = std::move(absent)};
  return {.prediction = predict_with(plan, profile, as_planned(plan)), .absent = ""};
}

MaybePrediction predict(const RecordPlan& plan, const Profile& profile, const SampledPacking& packed) {
  if (std::string absent = absent_because(plan, profile); !absent.empty()) return {.prediction = {}, .absent = std::move(absent)};
  const Packing packing = as_packed(plan, packed);
  Prediction found = predict_with(plan, profile, packing);
  const auto records = static_cast<double>(plan.stored_records * plan.wanted.format.record_size);
  const auto stored = static_cast<double>(std::max<std::uint64_t>(packing.traffic.at_first, 1));
  found.packing = PackingPrediction{.codec = packed.codec,
                                    .transposes = packed.transposes,
                                    .why = packed.why,
                                    .ratio = records / stored,
                                    .pack_s = packed.pack_s * (records + static_cast<double>(plan.remerged_bytes)),
                                    .unpack_s = packed.unpack_s * (records + static_cast<double>(plan.remerged_bytes)),
                                    .sample_bytes = packed.sample_bytes};
  return {.prediction = std::move(found), .absent = ""};
}

}  // namespace ecosort::planner
