#include "cli/compression_options.h"

#include "codec/block_codec.h"
#include "codec/codec.h"

namespace ecosort::cli {

void CompressionWords::bind(OptionTargets& targets) {
  targets.texts["--decompress"] = &decompress;
  targets.texts["--compress-output"] = &output;
  targets.texts["--level"] = &level;
  targets.texts["--compress"] = &runs;
  targets.texts["--assume-ratio"] = &assumed_ratio;
}

CompressionTerms CompressionWords::terms() const {
  CompressionTerms terms{.decompress = codec::decompress_of_word(decompress), .output = output, .level = std::nullopt};
  if (!level.empty()) terms.level = codec::level_of_word(level);
  terms.runs = runs;
  (void)codec::run_compression_of_word(runs);
  if (!assumed_ratio.empty()) terms.assumed_ratio = codec::ratio_of_word(assumed_ratio);
  return terms;
}

std::vector<OptionRow> run_compression_rows() {
  return {
      {"--compress", "auto|none|lz4|zstd", "auto",
       "what sorted runs are compressed with while they lie in temporary space, with a level as zstd:3 (1 to 19); `auto`: for "
       "each run what its first rows, the drives and the processors show to pay"},
      {"--assume-ratio", "R", "1",
       "runs shrink to 1/R at least, so that no more temporary space is checked and reserved; where they do not, and the "
       "drive is full, the sort ends and nothing is lost"}};
}

std::vector<OptionRow> compression_rows(std::string_view decompress, std::string_view output) {
  return {{"--decompress", "auto|never", decompress,
           "`auto`: decompress inputs that are compressed (gzip, zstd, lz4, xz, bzip2), by their first bytes or their name; "
           "`never`: sort them as they are"},
          {"--compress-output", "auto|none|gzip|zstd|lz4|xz|bzip2", output,
           "what the output is compressed with; `auto`: by the ending of its name (.gz .zst .lz4 .xz .bz2)"},
          {"--level", "N", "that of the codec's program",
           "how hard to compress: gzip 1 to 12, zstd 1 to 19, lz4 1 to 12, xz 0 to 9, bzip2 1 to 9"}};
}

namespace {

nlohmann::ordered_json runs_json(const lines::LinesJob& job, const lines::LinesReport& report) {
  if (!report.run_packing) return nullptr;
  const run::PackingReport& packing = *report.run_packing;
  const codec::RunCompression& wanted = job.codecs.runs.wanted;
  return {{"asked", wanted.is_auto ? "auto" : codec::text_of(wanted.terms)},
          {"codec", codec::text_of(packing.last)},
          {"because", packing.why},
          {"plain_bytes", packing.plain_bytes},
          {"stored_bytes", packing.stored_bytes},
          {"blocks", packing.blocks},
          {"packed_blocks", packing.packed_blocks},
          {"compress_cpu_s", packing.pack_s},
          {"decompress_cpu_s", packing.unpack_s}};
}

}  // namespace

nlohmann::ordered_json compression_json(const lines::LinesJob& job, const lines::LinesReport& report) {
  nlohmann::ordered_json inputs = nlohmann::ordered_json::array(), output = nullptr;
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
  return {{"inputs", std::move(inputs)}, {"runs", runs_json(job, report)}, {"output", std::move(output)}};
}

}  // namespace ecosort::cli
