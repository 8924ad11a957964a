#include <string>

#include "cli/option_values.h"
#include "cli/tables/tables.h"
#include "job/output_codec.h"

namespace ecosort::cli {

std::vector<OptionRow> run_compression_rows(std::string_view usual, std::string_view rows) {
  const std::string_view codecs = rows == "records" ? "auto|none|lz4|zstd" : "auto|none|prefix|lz4|zstd";
  return {
      {"--compress", codecs, usual,
       rows == "records"
           ? "codec of sorted runs in temporary space, perhaps with a level as zstd:3 (1 to 19); bytes are put together column "
             "by column where that pays; `auto`: chosen for each run by its first records and the speed of the drives and the "
             "processors"
           : "codec of sorted runs in temporary space, perhaps with a level as zstd:3 (1 to 19); `prefix`: does not store what a "
             "row shares with the row before it; lz4 and zstd do this first where it makes runs smaller; `auto`: chosen for each "
             "run by its first rows and the speed of the drives and the processors; with --resumable `none` unless given",
       Concern::how, sets("compression.runs", as_runs)},
      {"--assume-ratio", "R", "1",
       "assume that runs shrink to 1/R at least: only that much temporary space is checked and reserved; where they do not, and "
       "the drive is full, the sort ends and nothing is lost. No effect with sort --resumable on ext4 with a journal and XFS, "
       "where runs give their space to the output",
       Concern::how, sets("compression.assumed_ratio", as_ratio)},
      {"--goal", "time|energy", "time", "goal of --compress=auto: the least time, or the fewest joules by a profile with watts",
       Concern::how, checked(as_choice)}};
}

std::vector<OptionRow> compression_rows(std::string_view decompress, std::string_view output) {
  static const std::string codecs = "auto|none|" + job::codec_names();
  static const std::string by_ending = "what the output is compressed with; `auto`: by the ending of its name (" +
                                       job::codec_endings() + "). bgzf is gzip in blocks, which tabix and samtools index";
  static const std::string level = "how hard to compress: " + job::codec_levels();
  return {{"--decompress", "auto|never", decompress,
           "`auto`: decompress inputs that a codec of --compress-output made, or lzma, by their first bytes or their name; "
           "`never`: sort them as they are",
           Concern::compression, sets("compression.decompress", as_decompress)},
          {"--compress-output", codecs, output, by_ending, Concern::compression, sets("compression.output", as_text)},
          {"--level", "N", "that of the codec's program", level, Concern::compression, sets("compression.level", as_level)}};
}

}  // namespace ecosort::cli
