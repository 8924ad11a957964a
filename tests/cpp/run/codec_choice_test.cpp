// Which codec pays: by drives, processors, and what it makes of the first block.
#include "run/codec_choice.h"

#include <gtest/gtest.h>

#include <vector>

namespace ecosort::run {
namespace {

using codec::BlockCodec;

// Measured on an access log, CSV, and random bytes: ratio, CPU seconds per GB.
const Trial log_lz4{{BlockCodec::lz4, 0}, 6, 0.6e-9}, log_zstd{{BlockCodec::zstd, 1}, 10, 1.2e-9};
const Trial random_lz4{{BlockCodec::lz4, 0}, 1, 0.08e-9};

Pace pace_of(double drive_gb_per_s, unsigned threads = 2) { return {1e-9 / drive_gb_per_s, 0.5e-9 / threads, threads}; }

TEST(CodecChoice, CompressesForSlowDrivesAndNotForFastOnes) {
  for (const double slow : {0.1, 0.3, 0.5})
    EXPECT_NE(choose_codec(pace_of(slow), std::vector{log_lz4}).terms.codec, BlockCodec::none);
  for (const double fast : {6.0, 20.0})
    EXPECT_EQ(choose_codec(pace_of(fast), std::vector{log_lz4}).terms.codec, BlockCodec::none);
}

TEST(CodecChoice, TakesTheOneThatCompressesMoreOnlyWhereThatIsFaster) {
  const std::vector trials{log_lz4, log_zstd};
  EXPECT_EQ(choose_codec(pace_of(0.05), trials).terms, log_zstd.terms);
  EXPECT_EQ(choose_codec(pace_of(2.5), trials).terms, log_lz4.terms);
}

TEST(CodecChoice, LeavesAloneWhatDoesNotShrinkAndWhatNobodyMeasured) {
  for (const double rate : {0.01, 0.1, 1.0, 10.0})
    EXPECT_EQ(choose_codec(pace_of(rate), std::vector{random_lz4}).terms.codec, BlockCodec::none);
  const CodecChoice unknown = choose_codec({}, std::vector{log_lz4});
  EXPECT_EQ(unknown.terms.codec, BlockCodec::none);
  EXPECT_NE(unknown.why.find("nothing is known"), std::string::npos);
  EXPECT_EQ(choose_codec(pace_of(0.1), {}).terms.codec, BlockCodec::none);
}

TEST(CodecChoice, MoreThreadsMakeItPayOnFasterDrives) {
  const Pace few{1e-9 / 2, 2e-9, 1}, many{1e-9 / 2, 2e-9 / 32, 32};
  EXPECT_EQ(choose_codec(few, std::vector{log_lz4}).terms.codec, BlockCodec::none);
  EXPECT_EQ(choose_codec(many, std::vector{log_lz4}).terms.codec, BlockCodec::lz4);
}

TEST(CodecChoice, AStreamLeavesTheDrivesToTheRuns) {
  Pace pace{1e-9 / 0.3, 3.4e-9, 2};
  EXPECT_EQ(choose_codec(pace, std::vector{log_lz4}).terms.codec, BlockCodec::lz4);
  pace.reads_input = false;  // and the processors take longer than writing, and as long as merging
  pace.compute_s = 7e-9;
  EXPECT_EQ(choose_codec(pace, std::vector{log_lz4}).terms.codec, BlockCodec::none);
}

TEST(CodecChoice, SaysWhy) {
  EXPECT_EQ(choose_codec(pace_of(0.3), std::vector{log_lz4}).why.substr(0, 52),
            "drives move 0.30 GB/s, runs become 6.0 x smaller: 1.");
}

}  // namespace
}  // namespace ecosort::run
