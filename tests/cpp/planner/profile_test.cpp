// The machine's identity, the file of a profile, and what is predicted from it.
#include "planner/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "base/errors.h"
#include "planner/plan.h"
#include "planner/predict.h"

namespace ecosort::planner {
namespace {

using ::testing::HasSubstr;

class ProfileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(::testing::TempDir()) / ("profile_test." + std::to_string(::getpid()));
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = directory_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }

  std::filesystem::path directory_;
};

constexpr const char* head =
    "schema = \"ecosort.profile/2\"\ncreated = \"2030-01-01\"\nversion = \"0\"\n"
    "[machine]\nmachine_id = \"0123456789abcdef\"\nprocessor = \"Abacus\"\ncpus = 2\nmemory_bytes = 1000000000\n";
const MachineIdentity here{.machine_id = "0123456789abcdef", .processor = "Abacus", .cpus = 2, .memory_bytes = 1'000'000'000};

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST_F(ProfileTest, AMachineIsKnownByWhatTheKernelSaysAndAHashOfItsNumber) {
  write("etc/machine-id", "0123456789abcdef0123456789abcdef\n");
  write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Abacus  3000 \nmodel name\t: other\n");
  write("proc/meminfo", "MemTotal:       16318484 kB\nMemFree: 1 kB\n");
  const MachineIdentity found = this_machine(directory_.string());
  // The first 16 digits of: printf 'ecosort 0123456789abcdef0123456789abcdef' | sha256sum
  EXPECT_EQ(found.machine_id, "9cf6e92fde7f7f79");
  EXPECT_EQ(found.processor, "Abacus  3000");
  EXPECT_EQ(found.memory_bytes, 16318484ULL * 1024);
  EXPECT_GE(found.cpus, 1U);
}

TEST_F(ProfileTest, AMachineWithoutANumberHasNone) {
  const MachineIdentity found = this_machine(directory_.string());
  EXPECT_EQ(found.machine_id, "");
  EXPECT_NE(found.processor, "");
}

TEST(MachineIdentityTest, MachinesDifferByAnyFactButALittleMemory) {
  EXPECT_EQ(difference(here, here), std::nullopt);
  MachineIdentity other = here;
  other.machine_id = "";
  other.memory_bytes = 981'000'000;
  EXPECT_EQ(difference(here, other), std::nullopt);
  other.memory_bytes = 979'000'000;
  EXPECT_THAT(difference(here, other).value(), HasSubstr("memory"));
  other = here;
  other.machine_id = "fedcba9876543210";
  EXPECT_THAT(difference(here, other).value(), HasSubstr("installation"));
  other = here;
  other.cpus = 3;
  EXPECT_EQ(difference(here, other).value(), "its number of CPUs is 3, here it is 2");
}

TEST_F(ProfileTest, AProfileIsReadWhole) {
  const std::string text = std::string(head) +
                           "[cpu]\nfixed_s = 0.5\nper_record_s = 1e-7\nper_byte_s = 0\nper_comparison_s = "
                           "2e-9\nper_memory_byte_s = 1e-9\nper_request_s = 1e-5\nerror = 0.1\nruns = 3\n"
                           "[time]\nerror = 0.1\nruns = 3\nfactor = { run_formation = 1.5, merge = 2 }\n"
                           "[[setting]]\noption = \"--threads\"\nvalue = \"1\"\nbecause = \"\\\"so\\\"\"\n";
  const Profile profile = read_profile(write("p.toml", text), here);
  ASSERT_TRUE(profile.cpu.has_value());
  EXPECT_DOUBLE_EQ(profile.cpu->per_comparison_s, 2e-9);
  EXPECT_DOUBLE_EQ(profile.time_factor.at("merge"), 2.0);
  EXPECT_FALSE(profile.power.has_value());
  ASSERT_EQ(profile.settings.size(), 1U);
  EXPECT_EQ(profile.settings[0].because, "\"so\"");
}

TEST_F(ProfileTest, WhatCannotBeBelievedIsRefusedWithTheReason) {
  const auto read = [&](const std::string& text) { return refusal([&] { (void)read_profile(write("p.toml", text), here); }); };
  EXPECT_THAT(read("a = = 1"), HasSubstr("line 1"));
  EXPECT_THAT(read(std::string(head) + "[cpu]\nfixed_s = 1\n"), HasSubstr("profile.cpu.error is missing"));
  EXPECT_THAT(read("drive = 3\n" + std::string(head)), HasSubstr("profile.drive is not a list"));
  EXPECT_THAT(read(std::string(head) + "[[drive]]\ndevice = 3\n"), HasSubstr("profile.drive[0].device is not a text"));
  EXPECT_THAT(read(std::string(head) + "[kernels.ns_per_record]\nmerge = -1\n"),
              HasSubstr("ns_per_record.merge is not a number"));
  MachineIdentity other = here;
  other.processor = "Other";
  EXPECT_THAT(refusal([&] { (void)read_profile(write("p.toml", head), other); }), HasSubstr("its processor is Abacus"));
}

// 1000 records of 100 bytes with two stored runs, and drives and processors of round numbers.
RecordPlan small_plan() {
  RecordPlan plan;
  plan.shape = Shape::two_pass;
  plan.wanted.format = records::make_record_format(100, {});
  plan.wanted.input_records = 1000;
  plan.wanted.threads = 4;
  plan.wanted.merge_threads = 2;
  plan.formation.read_block_bytes = plan.formation.write_block_bytes = plan.merge.final.block_bytes = 1 << 20;
  plan.merge.steps = {{.first_run = 0, .fan_in = 4}};
  plan.run_bytes = 80'000;
  plan.stored_records = 800;
  plan.bytes_read = plan.bytes_written = 180'000;
  plan.read_depth = plan.write_depth = 16;
  return plan;
}

Profile round_profile() {
  Profile profile;
  profile.drives = {{.role = "temp",
                     .directory = "/ssd",
                     .rates = {{"read", 1 << 20, 16, 100'000, 0},
                               {"read", 1 << 12, 1, 1, 0},
                               {"write", 1 << 20, 16, 0, 40'000},
                               {"mixed", 1 << 20, 16, 30'000, 30'000},
                               {"random", 1 << 20, 16, 80'000, 0}}}};
  profile.cpu = CpuModel{.fixed_s = 1, .per_record_s = 1e-3, .per_byte_s = 0, .per_comparison_s = 1e-3};
  profile.kernel_ns = {{"extract", 1}, {"merge", 3}};
  profile.time_factor = {{"run_formation", 2}};
  return profile;
}

TEST(PredictTest, APhaseTakesAsLongAsItsSlowestResource) {
  const MaybePrediction forecast = predict(small_plan(), round_profile());
  ASSERT_TRUE(forecast.prediction.has_value()) << forecast.absent;
  const Prediction& found = *forecast.prediction;
  EXPECT_DOUBLE_EQ(found.cpu_s, 1 + 1 + 2);  // fixed, 1000 records, 1000 * log2(4) comparisons
  // Run formation reads 100 kB in 1 s, writes 80 kB in 2 s, both in 160/60 s and 20 kB more to read; a quarter of the CPU on four
  // threads: 0.25 s.
  EXPECT_EQ(found.phases[0].bottleneck(), "drive, reading and writing at once");
  EXPECT_DOUBLE_EQ(found.phases[0].seconds, 2 * (160.0 / 60 + 0.2));
  // The merge writes 100 kB in 2.5 s, both in 160/60 s and 20 kB more to write; three quarters of the CPU on two threads: 1.5 s.
  EXPECT_DOUBLE_EQ(found.phases[1].seconds, 160.0 / 60 + 0.5);
  EXPECT_EQ(found.bytes_moved, 360'000U);
  EXPECT_STREQ(found.help_most(), "drive");
  EXPECT_DOUBLE_EQ(found.saved_by_processor_s, 0);
  EXPECT_FALSE(found.joules.has_value());
}

TEST(PredictTest, EarlierMergesCompareByTheirWidth) {
  RecordPlan plan = small_plan();
  const double before = predict(plan, round_profile()).prediction.value().cpu_s;
  const MergeStep last = plan.merge.steps.back();
  plan.merge.steps = {{.first_run = 0, .fan_in = 8}, {.first_run = 8, .fan_in = 2}, last};
  plan.remerged_bytes = 50'000;  // 500 records, of which eight tenths are compared log2(8) times and two tenths once
  EXPECT_DOUBLE_EQ(predict(plan, round_profile()).prediction.value().cpu_s, before + 0.4 * 3 + 0.1 * 1);
}

TEST(PredictTest, MemoryTakesTheProcessorToo) {
  RecordPlan plan = small_plan();
  Profile profile = round_profile();
  const double before = predict(plan, profile).prediction.value().cpu_s;
  plan.peak_memory_bytes = 3'000'000;
  profile.cpu.value().per_memory_byte_s = 1e-6;
  EXPECT_DOUBLE_EQ(predict(plan, profile).prediction.value().cpu_s, before + 3);
}

TEST(PredictTest, EachRequestTakesTheProcessorToo) {
  RecordPlan plan = small_plan();
  Profile profile = round_profile();
  const double before = predict(plan, profile).prediction.value().cpu_s;
  plan.formation.read_block_bytes = 10'000;  // 100 kB of input
  plan.formation.write_block_bytes = 8'000;  // 80 kB of runs
  plan.merge.final.block_bytes = 4'000;      // and again
  plan.merge.final.output_block_bytes = 50'000;
  profile.cpu.value().per_request_s = 0.5;
  EXPECT_DOUBLE_EQ(predict(plan, profile).prediction.value().cpu_s, before + 0.5 * (10 + 10 + 20 + 2));
}

TEST(PredictTest, ASortInMemoryHasFactorsOfItsOwn) {
  RecordPlan plan = small_plan();
  plan.stored_records = 0;
  Profile profile = round_profile();
  const double as_stored = predict(plan, profile).prediction.value().seconds;
  EXPECT_DOUBLE_EQ(as_stored, predict(small_plan(), profile).prediction.value().seconds);
  profile.time_factor["read_and_sort"] = 4;   // instead of 2
  profile.time_factor["merge_resident"] = 3;  // instead of none
  const Prediction found = predict(plan, profile).prediction.value();
  EXPECT_DOUBLE_EQ(found.phases[0].factor, 4);
  EXPECT_DOUBLE_EQ(found.phases[1].factor, 3);
  EXPECT_DOUBLE_EQ(predict(small_plan(), profile).prediction.value().seconds, as_stored);
}

// Plans 800 records in two runs, of which half of the bytes are left in blocks of one page.
RecordPlan packed_plan() {
  RecordPlan plan = small_plan();
  plan.run_block = {.bytes = 8192, .records = 80};
  plan.runs = {400, 400, 200};
  plan.merge.stored_runs = 2;
  plan.packing.coders = 4;
  return plan;
}

PackedSize pages() {
  PackedSize size;
  size.add(400, {4000});
  return size;
}

TEST(PredictTest, CompressedRunsMoveLessAndCodersTakeTime) {
  const RecordPlan plan = packed_plan();
  const SampledPacking packed{.codec = "lz4",
                              .transposes = true,
                              .why = "asked for",
                              .size = pages(),
                              .pack_s = 1e-4,
                              .unpack_s = 5e-5,
                              .sample_bytes = 1000};
  const Prediction plain = predict(plan, round_profile()).prediction.value();
  const Prediction found = predict(plan, round_profile(), packed).prediction.value();
  EXPECT_EQ(found.phases[0].bytes_read, plain.phases[0].bytes_read);
  EXPECT_EQ(found.phases[0].bytes_written, 10U * 4096);
  EXPECT_EQ(found.phases[1].bytes_read, 10U * 4096);
  EXPECT_EQ(found.phases[1].bytes_written, plain.phases[1].bytes_written);
  EXPECT_EQ(found.bytes_moved, 200'000U + 20 * 4096);
  EXPECT_EQ(found.temp_bytes, 10U * 4096);
  EXPECT_DOUBLE_EQ(found.cpu_s, plain.cpu_s + 8 + 4);  // 80 kB
  EXPECT_DOUBLE_EQ(found.phases[0].times.back().second, 1.0 / 4 + 8.0 / 4);
  EXPECT_DOUBLE_EQ(found.phases[1].times.back().second, 3.0 / 2 + 4.0 / 2);
  ASSERT_TRUE(found.packing.has_value());
  EXPECT_EQ(found.packing->codec, "lz4");
  EXPECT_DOUBLE_EQ(found.packing->ratio, 80'000.0 / 40'960);
  EXPECT_FALSE(plain.packing.has_value());
}

TEST(PredictTest, FewerCodersThanThreadsHoldThemUp) {
  RecordPlan plan = packed_plan();
  plan.packing.coders = 1;
  SampledPacking packed;
  packed.size = pages();
  packed.pack_s = 1e-4;
  EXPECT_DOUBLE_EQ(predict(plan, round_profile(), packed).prediction.value().phases[0].times.back().second, 8);
}

TEST(PredictTest, WhatIsMergedAgainIsPackedAgain) {
  RecordPlan plan = packed_plan();
  plan.runs = {400, 400};
  plan.merge.steps = {{.first_run = 0, .fan_in = 2}, {.first_run = 0, .fan_in = 1}};
  plan.remerged_bytes = 80'000;
  plan.bytes_read = plan.bytes_written = 260'000;
  SampledPacking packed;
  packed.size = pages();
  packed.pack_s = 1e-4;
  packed.unpack_s = 5e-5;
  const Prediction found = predict(plan, round_profile(), packed).prediction.value();
  EXPECT_EQ(found.phases[1].bytes_read, 20U * 4096);
  EXPECT_EQ(found.phases[1].bytes_written, 100'000U + 10 * 4096);
  EXPECT_EQ(found.temp_bytes, 20U * 4096);
  ASSERT_TRUE(found.packing.has_value());
  EXPECT_DOUBLE_EQ(found.packing->pack_s, 16);
  EXPECT_DOUBLE_EQ(found.packing->unpack_s, 8);
}

TEST(PredictTest, WithoutModelsItIsSaidWhatToDo) {
  Profile profile = round_profile();
  profile.cpu.reset();
  EXPECT_THAT(predict(small_plan(), profile).absent, HasSubstr("ecosort-tune fit"));
  profile = round_profile();
  profile.drives.clear();
  EXPECT_THAT(predict(small_plan(), profile).absent, HasSubstr("ecosort-tune probe"));
  RecordPlan stream = small_plan();
  stream.shape = Shape::unknown;
  EXPECT_THAT(predict(stream, round_profile()).absent, HasSubstr("not known"));
}

TEST(RunRecordsTest, EveryNumberThatIsSaidToFitDoes) {
  Wanted wanted{
      .format = records::make_record_format(100, {}), .input_records = 3'000'000, .memory_bytes = 32 << 20, .threads = 2};
  const RecordPlan free = make_plan(wanted);
  for (std::uint64_t records = free.formation.run_records; records > 1000; records = records * 3 / 4) {
    wanted.run_records = records;
    const RecordPlan plan = make_plan(wanted);
    EXPECT_LE(plan.formation.run_records, records);
    EXPECT_GE(plan.formation.run_records, records - records / 4);
    EXPECT_LE(plan.peak_memory_bytes, wanted.memory_bytes);
  }
  wanted.run_records = 10'000'000;
  const std::string line = refusal([&] { (void)make_plan(wanted); });
  ASSERT_THAT(line, HasSubstr("give at most "));
  wanted.run_records = std::stoull(line.substr(line.rfind(' ')));
  EXPECT_GT(make_plan(wanted).merge.stored_runs, 1U);
}

TEST(EdgesTest, UnitsThatTwoRunsShareAreReadTwice) {
  RecordPlan plan = small_plan();
  plan.formation.run_records = 300;  // the first two have 100 and 200; cuts at records 100, 300, 600, 900
  plan.formation.write_blocks = 3;
  account_edges(plan, {{.start_bytes = 0, .records = 1000, .alignment = 4096}}, 4096);
  EXPECT_EQ(plan.bytes_read, 180'000U + 4 * 4096);
  EXPECT_EQ(plan.bytes_written, 180'000U + (102'400 - 100'000));
  plan = small_plan();
  plan.formation.run_records = 300;
  plan.formation.write_blocks = 3;
  account_edges(plan, {{.start_bytes = 50, .records = 100, .alignment = 512}, {.start_bytes = 0, .records = 900, .alignment = 1}},
                1);
  EXPECT_EQ(plan.bytes_read, 180'000U + 50);
  EXPECT_EQ(plan.bytes_written, 180'000U);
}

}  // namespace
}  // namespace ecosort::planner
