// A codec pays or not: by drives, processors, and what it makes of the first block.
#include "run/codec_choice.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ecosort::run {
namespace {

using codec::BlockCodec;

// Measured on an access log, CSV, and random bytes: ratio, CPU seconds per GB.
const Trial log_lz4{{{BlockCodec::lz4, 0}}, 6, 0.6e-9}, log_zstd{{{BlockCodec::zstd, 1}}, 10, 1.2e-9};
const Trial random_lz4{{{BlockCodec::lz4, 0}}, 1, 0.08e-9};
// And on records of gensort, as they are and by columns.
const Trial rows_lz4{{{BlockCodec::lz4, 0}, false}, 2.2, 1.1e-9}, columns_lz4{{{BlockCodec::lz4, 0}, true}, 3.4, 0.4e-9};

Pace pace_of(double drive_gb_per_s, unsigned threads = 2) { return {1e-9 / drive_gb_per_s, 0.5e-9 / threads, threads}; }

TEST(CodecChoice, CompressesForSlowDrivesAndNotForFastOnes) {
  for (const double slow : {0.1, 0.3, 0.5})
    EXPECT_NE(choose_codec(pace_of(slow), std::vector{log_lz4}).terms.codec.codec, BlockCodec::none);
  for (const double fast : {6.0, 20.0})
    EXPECT_EQ(choose_codec(pace_of(fast), std::vector{log_lz4}).terms.codec.codec, BlockCodec::none);
}

TEST(CodecChoice, TakesTheOneThatCompressesMoreOnlyWhereThatIsFaster) {
  const std::vector trials{log_lz4, log_zstd};
  EXPECT_EQ(choose_codec(pace_of(0.05), trials).terms, log_zstd.terms);
  EXPECT_EQ(choose_codec(pace_of(2.5), trials).terms, log_lz4.terms);
}

TEST(CodecChoice, LeavesAloneWhatDoesNotShrinkAndWhatNobodyMeasured) {
  for (const double rate : {0.01, 0.1, 1.0, 10.0})
    EXPECT_EQ(choose_codec(pace_of(rate), std::vector{random_lz4}).terms.codec.codec, BlockCodec::none);
  const CodecChoice unknown = choose_codec({}, std::vector{log_lz4});
  EXPECT_EQ(unknown.terms.codec.codec, BlockCodec::none);
  EXPECT_NE(unknown.why.find("nothing is known"), std::string::npos);
  EXPECT_EQ(choose_codec(pace_of(0.1), {}).terms.codec.codec, BlockCodec::none);
}

TEST(CodecChoice, MoreThreadsMakeItPayOnFasterDrives) {
  const Pace few{1e-9 / 2, 2e-9, 1}, many{1e-9 / 2, 2e-9 / 32, 32};
  EXPECT_EQ(choose_codec(few, std::vector{log_lz4}).terms.codec.codec, BlockCodec::none);
  EXPECT_EQ(choose_codec(many, std::vector{log_lz4}).terms.codec.codec, BlockCodec::lz4);
  const Pace on_a_faster_drive{1e-9 / 3, 2e-9 / 32, 32};  // which one thread of zstd alone could not keep up with
  EXPECT_EQ(choose_codec(on_a_faster_drive, std::vector{log_zstd}).terms, log_zstd.terms);
}

// Other work takes the processors as often as not: what a codec costs takes as much longer as the sort itself.
TEST(CodecChoice, ABusyProcessorMakesCodecsPayLess) {
  Pace pace = pace_of(0.8);
  EXPECT_FALSE(choose_codec(pace, std::vector{log_lz4, log_zstd}).terms.is_none());
  EXPECT_TRUE(could_pay(pace, {}));
  pace.slowdown = 12;
  const CodecChoice busy = choose_codec(pace, std::vector{log_lz4, log_zstd});
  EXPECT_TRUE(busy.terms.is_none());
  EXPECT_NE(busy.why.find("computing takes 12.0 x as long because processors are busy"), std::string::npos) << busy.why;
  EXPECT_FALSE(could_pay(pace, {}));
  pace.drive_s *= 30;  // a drive that is slower still
  EXPECT_EQ(choose_codec(pace, std::vector{log_lz4}).terms, log_lz4.terms);
}

TEST(CodecChoice, NoTrialIsWorthItWhereNothingCouldPay) {
  EXPECT_FALSE(could_pay(pace_of(20), {}));
  EXPECT_FALSE(could_pay({}, {}));
  const planner::PowerModel costly_drive{.idle_w = 5, .core_w = 2, .gb_j = 20};
  EXPECT_TRUE(could_pay(pace_of(20), costly_drive));
  EXPECT_NE(choose_codec(pace_of(20), {}).why.find("no codec would make that 5 % faster"), std::string::npos);
}

TEST(CodecChoice, AStreamLeavesTheDrivesToTheRuns) {
  Pace pace{1e-9 / 0.3, 3.4e-9, 2};
  EXPECT_EQ(choose_codec(pace, std::vector{log_lz4}).terms.codec.codec, BlockCodec::lz4);
  pace.reads_input = false;  // and the processors take longer than writing, and as long as merging
  pace.compute_s = 7e-9;
  EXPECT_EQ(choose_codec(pace, std::vector{log_lz4}).terms.codec.codec, BlockCodec::none);
}

TEST(CodecChoice, TakesColumnsWhereTheyShrinkMoreForLess) {
  const CodecChoice choice = choose_codec(pace_of(0.3), std::vector{rows_lz4, columns_lz4});
  EXPECT_EQ(choice.terms, columns_lz4.terms);
  EXPECT_EQ(text_of(choice.terms), "lz4 of columns");
}

// A drive so fast that time is no reason: bytes that cost joules are one, and processors that do are one against it.
TEST(CodecChoice, GoesByJoulesWhereTheGoalIsEnergy) {
  const planner::PowerModel costly_drive{.idle_w = 5, .core_w = 2, .gb_j = 20},
      costly_cores{.idle_w = 5, .core_w = 40, .gb_j = 0.1};
  const Pace fast = pace_of(6), slow = pace_of(0.9);
  EXPECT_TRUE(choose_codec(fast, std::vector{log_lz4}).terms.is_none());
  const CodecChoice saves = choose_codec(fast, std::vector{log_lz4}, costly_drive);
  EXPECT_EQ(saves.terms, log_lz4.terms);
  EXPECT_NE(saves.why.find("% fewer joules by the model"), std::string::npos) << saves.why;
  EXPECT_FALSE(choose_codec(slow, std::vector{log_zstd}).terms.is_none());
  const CodecChoice does_not = choose_codec(slow, std::vector{log_zstd}, costly_cores);
  EXPECT_TRUE(does_not.terms.is_none());
  EXPECT_NE(does_not.why.find("would not save 5 % of the energy"), std::string::npos) << does_not.why;
}

// Measured on paths: a codec that costs the merge nothing stays ahead of one that shrinks more where the processors are busy.
TEST(CodecChoice, TruncationAloneIsTakenWhereACodecBehindItIsTooMuchWork) {
  const Trial alone{{{BlockCodec::prefix, 0}, false, true}, 3.8, 0.27e-9},
      in_front{{{BlockCodec::zstd, 1}, false, true}, 7.6, 1.1e-9};
  const Pace slow_drive{1e-9 / 0.1, 1.7e-9, 2}, busy{1e-9 / 0.6, 2.2e-9, 2}, fast_drive{1e-9 / 20, 1.7e-9, 2};
  EXPECT_EQ(choose_codec(slow_drive, std::vector{alone, in_front}).terms, in_front.terms);
  EXPECT_EQ(choose_codec(busy, std::vector{alone, in_front}).terms, alone.terms);
  EXPECT_TRUE(choose_codec(fast_drive, std::vector{alone, in_front}).terms.is_none());
}

TEST(CodecChoice, SaysWhy) {
  EXPECT_EQ(choose_codec(pace_of(0.3), std::vector{log_lz4}).why.substr(0, 52),
            "drives move 0.30 GB/s, runs become 6.0 x smaller: 1.");
}

TEST(CodecChoice, RecordsMayBePackedAsTheyAreOrByColumnsAndRowsTruncated) {
  const auto ways = [](const char* word, std::uint32_t record_size) {
    std::string text;
    for (const PackTerms& terms : ways_to_pack(codec::run_compression_of_word(word), record_size)) text += text_of(terms) + ", ";
    return text;
  };
  EXPECT_EQ(ways("lz4", 0), "prefix+lz4, lz4, ");
  EXPECT_EQ(ways("prefix", 0), "prefix, ");
  EXPECT_EQ(ways("auto", 0), "prefix, prefix+lz4, lz4, prefix+zstd:1, zstd:1, ");
  EXPECT_EQ(ways("zstd:3", 1), "zstd:3, ");
  EXPECT_EQ(ways("zstd:3", 2), "zstd:3, zstd:3 of columns, ");
  EXPECT_EQ(ways("auto", 100), "lz4, lz4 of columns, zstd:1, zstd:1 of columns, ");
}

TEST(CodecChoice, WhatWasAskedForIsTakenAsItShrinksMost) {
  planner::PackingPlan plan{.wanted = codec::run_compression_of_word("lz4"), .coders = 1};
  EXPECT_EQ(choose_terms(plan, pace_of(20), std::vector{rows_lz4, columns_lz4}).terms, columns_lz4.terms);
  EXPECT_EQ(choose_terms(plan, pace_of(20), {}).terms, rows_lz4.terms);
  plan.wanted = codec::run_compression_of_word("auto");
  EXPECT_TRUE(choose_terms(plan, pace_of(20), std::vector{rows_lz4, columns_lz4}).terms.is_none());
}

}  // namespace
}  // namespace ecosort::run
