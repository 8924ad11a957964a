// Predictions of compressed runs: samples of one file or of several, and of what is not there any more.
#include "job/predict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "io/posix_storage.h"
#include "sortbenchmark/gensort.h"

namespace ecosort::job {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t MiB = std::uint64_t{1} << 20U, records = 300'000, record_bytes = sortbenchmark::gensort_record_bytes;

planner::Profile some_profile() {
  planner::Profile profile;
  profile.drives = {{.role = "temp", .directory = "/ssd", .rates = {{"mixed", MiB, 16, 5e8, 5e8}}}};
  profile.cpu = planner::CpuModel{.per_record_s = 1e-7};
  return profile;
}

class PredictPackedRuns : public testing::Test {
 protected:
  PredictPackedRuns() : place_(std::filesystem::temp_directory_path() / ("ecosort-predict-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(place_);
    data_.resize(records * record_bytes);
    sortbenchmark::GensortRecords({.ascii = true}, make_uint128(0, 0)).generate(data_.data(), records);
  }
  ~PredictPackedRuns() override { std::filesystem::remove_all(place_); }
  PredictPackedRuns(const PredictPackedRuns&) = delete;
  PredictPackedRuns& operator=(const PredictPackedRuns&) = delete;

  // Records [from, to) in a file of their own, behind so many other bytes.
  engine::fixed::Input input(std::uint64_t from, std::uint64_t to, std::uint64_t skipped = 0) {
    const std::string path = place_ / std::to_string(++files_);
    std::ofstream file(path, std::ios::binary);
    file << std::string(skipped, 'x');
    file.write(reinterpret_cast<const char*>(data_.data() + from * record_bytes),
               static_cast<std::streamsize>((to - from) * record_bytes));
    file.close();
    engine::fixed::Input input;
    input.file = storage_.open_input(path, io::Caching::direct_if_possible);
    input.records = to - from;
    input.skipped = skipped;
    return input;
  }

  template <class... Inputs>
  planner::MaybePrediction predicted(Inputs&&... parts) const {
    std::vector<engine::fixed::Input> inputs;
    (inputs.push_back(std::forward<Inputs>(parts)), ...);
    const planner::RecordPlan plan = planner::make_plan({.format = records::make_record_format(record_bytes, {}),
                                                         .input_records = records,
                                                         .memory_bytes = 16 * MiB,
                                                         .threads = 2,
                                                         .compression = codec::run_compression_of_word("zstd")});
    return predict(plan, inputs, some_profile());
  }

 private:
  std::filesystem::path place_;
  std::vector<std::byte> data_;
  io::PosixStorage storage_;
  int files_ = 0;
};

TEST_F(PredictPackedRuns, SeveralFilesAreSampledAsOne) {
  const planner::Prediction one = predicted(input(0, records)).prediction.value();
  ASSERT_TRUE(one.packing.has_value());
  EXPECT_GT(one.packing->ratio, 2);
  EXPECT_GT(one.packing->sample_bytes, 10 * MiB);
  const planner::Prediction several =
      predicted(input(0, 1), input(1, 99'999), input(99'999, 99'999), input(99'999, records, 777)).prediction.value();
  EXPECT_EQ(several.bytes_moved, one.bytes_moved);
  EXPECT_EQ(several.temp_bytes, one.temp_bytes);
}

TEST_F(PredictPackedRuns, WhatCannotBeReadGivesNoPrediction) {
  EXPECT_THAT(predicted().absent, HasSubstr("without an input there is no sample"));
  engine::fixed::Input shorter = input(0, 200'000);
  shorter.records = records;
  const planner::MaybePrediction forecast = predicted(std::move(shorter));
  EXPECT_FALSE(forecast.prediction.has_value());
  EXPECT_THAT(forecast.absent, HasSubstr("ended at byte 20000000 while a sample of it was read"));
}

}  // namespace
}  // namespace ecosort::job
