#include "cli/compression_options.h"

#include <fmt/format.h>

#include "base/errors.h"
#include "base/size_text.h"
#include "job/plan_codecs.h"

namespace ecosort::cli {

void RunWords::bind(OptionTargets& targets) {
  targets.texts["--compress"] = &runs;
  targets.texts["--assume-ratio"] = &assumed_ratio;
  targets.texts["--goal"] = &goal;
}

void RunWords::set(Compression& terms) const {
  terms.runs = runs;
  if (!runs.empty()) (void)codec::run_compression_of_word(runs, "--compress");
  if (!assumed_ratio.empty()) terms.assumed_ratio = codec::ratio_of_word(assumed_ratio, "--assume-ratio");
}

void CompressionWords::bind(OptionTargets& targets) {
  targets.texts["--decompress"] = &decompress;
  targets.texts["--compress-output"] = &output;
  targets.texts["--level"] = &level;
  runs.bind(targets);
}

Compression CompressionWords::terms() const {
  Compression terms;
  terms.decompress = codec::decompress_of_word(decompress, "--decompress");
  terms.output = output;
  if (!level.empty()) terms.level = codec::level_of_word(level, "--level");
  runs.set(terms);
  return terms;
}

std::optional<EnergyTerms> energy_of_goal(const std::string& goal, const Compression& terms, std::string_view usual,
                                          bool is_resumable, const ProfileChoice& profile) {
  if (goal.empty() || goal == "time") return std::nullopt;
  if (goal != "energy") throw UsageError(fmt::format("--goal: '{}' is neither 'time' nor 'energy'", goal));
  if (is_resumable) throw UsageError(std::string(energy_goes_without_resumable));
  if ((terms.runs.empty() ? usual : terms.runs) != "auto")
    throw UsageError("--goal energy chooses how runs are compressed; give --compress=auto with it");
  if (!profile.profile)
    throw UsageError(
        "--goal energy needs a profile that knows watts, and there is none: ecosort-tune fit makes one from results of "
        "ecosort-power");
  if (!profile.profile->power)
    throw UsageError(
        fmt::format("--goal energy: profile '{}' knows no watts: ecosort-tune fit with results of ecosort-power", profile.path));
  const planner::PowerModel& power = *profile.profile->power;
  return EnergyTerms{.idle_w = power.idle_w, .core_w = power.core_w, .gb_j = power.gb_j};
}

std::vector<OptionRow> run_compression_rows(std::string_view usual, std::string_view rows) {
  const std::string_view codecs = rows == "records" ? "auto|none|lz4|zstd" : "auto|none|prefix|lz4|zstd";
  return {
      {"--compress", codecs, usual,
       rows == "records"
           ? "what sorted runs are compressed with while they lie in temporary space, with a level as zstd:3 (1 to 19), their "
             "bytes put together column by column where that pays; `auto`: for each run what its first records, the drives and "
             "the processors show to pay"
           : "what sorted runs are compressed with while they lie in temporary space, with a level as zstd:3 (1 to 19); "
             "`prefix`: "
             "what a row shares with the row before it is not stored, which lz4 and zstd do first where that makes less; `auto`: "
             "for each run what its first rows, the drives and the processors show to pay; with --resumable `none` unless given"},
      {"--assume-ratio", "R", "1",
       "runs shrink to 1/R at least, so that no more temporary space is checked and reserved; where they do not, and the "
       "drive is full, the sort ends and nothing is lost. Of no use to sort --resumable where runs give their space to the "
       "output (ext4 with a journal, XFS)"},
      {"--goal", "time|energy", "time",
       "of --compress=auto: the least time, or the fewest joules, by a profile that knows watts"}};
}

std::vector<OptionRow> compression_rows(std::string_view decompress, std::string_view output) {
  return {
      {"--decompress", "auto|never", decompress,
       "`auto`: decompress inputs that are compressed (gzip, zstd, lz4, xz, lzma, bzip2), by their first bytes or their name; "
       "`never`: sort them as they are",
       Concern::compression},
      {"--compress-output", "auto|none|gzip|zstd|lz4|xz|bzip2", output,
       "what the output is compressed with; `auto`: by the ending of its name (.gz .zst .lz4 .xz .bz2)", Concern::compression},
      {"--level", "N", "that of the codec's program",
       "how hard to compress: gzip 1 to 12, zstd 1 to 19, lz4 1 to 12, xz 0 to 9, bzip2 1 to 9", Concern::compression}};
}

Json run_compression_json(const planner::PackingPlan& plan, const std::optional<run::PackingReport>& report) {
  if (!report) return nullptr;
  return {{"asked", plan.wanted.is_auto ? "auto" : codec::text_of(plan.wanted.terms)},
          {"goal", plan.power ? "energy" : "time"},
          {"codec", codec::text_of(report->last.codec)},
          {"transposed", report->last.transposes},
          {"truncated", report->last.truncates},
          {"because", report->why},
          {"plain_bytes", report->plain_bytes},
          {"stored_bytes", report->stored_bytes},
          {"blocks", report->blocks},
          {"packed_blocks", report->packed_blocks},
          {"tried_blocks", report->tried_blocks},
          {"try_cpu_s", report->try_s},
          {"compress_cpu_s", report->pack_s},
          {"decompress_cpu_s", report->unpack_s}};
}

std::string packing_text(const planner::PackingPlan& plan) {
  if (plan.coders == 0) return "";
  const std::string usual = codec::text_of(plan.wanted.terms);
  std::string what = usual;
  if (plan.wanted.is_auto && usual == "lz4") what += plan.power ? " where it saves energy" : " where it pays";
  if (plan.wanted.is_auto && usual != "lz4")
    what = fmt::format("lz4 or {} where they {}", usual, plan.power ? "save energy" : "pay");
  return fmt::format("{}; {} coders and their index take {} ({} bytes)", what, plan.coders, format_bytes(plan.bytes()),
                     plan.bytes());
}

std::string packed_text(const std::optional<run::PackingReport>& report) {
  if (!report || report->packed_blocks == 0) return "";
  const bool is_last_packed = !report->last.is_none();  // auto may have changed its mind
  return fmt::format(", runs {:.1f} x smaller{}",
                     static_cast<double>(report->plain_bytes) / static_cast<double>(report->stored_bytes),
                     is_last_packed ? " by " + run::text_of(report->last) : "");
}

Json compression_json(const lines::LinesJob& job, const lines::LinesReport& report) {
  Json inputs = Json::array(), output = nullptr;
  for (const lines::LineInput& input : job.inputs) {
    if (!input.decompresses || !input.codec) continue;
    inputs.push_back({{"name", input.name},
                      {"codec", codec::name_of(*input.codec)},
                      {"compressed_bytes", input.compressed_bytes},
                      {"plain_bytes", input.plain_bytes}});
  }
  if (job.codecs.packing) {
    const codec::OutputCodec& codec = job.codecs.packing->output;
    output = {{"codec", codec::name_of(codec.codec)},
              {"level", codec.level},
              {"compressed_bytes", report.packed_bytes},
              {"plain_bytes", report.output_bytes}};
  }
  return {{"inputs", std::move(inputs)},
          {"runs", run_compression_json(job.codecs.runs, report.run_packing)},
          {"output", std::move(output)}};
}

}  // namespace ecosort::cli
