#include "cli/compression_options.h"

#include "codec/codec.h"

namespace ecosort::cli {

void CompressionWords::bind(OptionTargets& targets) {
  targets.texts["--decompress"] = &decompress;
  targets.texts["--compress-output"] = &output;
  targets.texts["--level"] = &level;
}

CompressionTerms CompressionWords::terms() const {
  CompressionTerms terms{.decompress = codec::decompress_of_word(decompress), .output = output, .level = std::nullopt};
  if (!level.empty()) terms.level = codec::level_of_word(level);
  return terms;
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
  return {{"inputs", std::move(inputs)}, {"output", std::move(output)}};
}

}  // namespace ecosort::cli
