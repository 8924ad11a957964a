// Reads cores from trees that look like the kernel's.
#include "planner/cores.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "base/cpus.h"
#include "cpp/io/test_support.h"
#include "planner/machine.h"

namespace ecosort::planner {

namespace {

class CoresTest : public ::testing::Test {
 protected:
  void cpu(unsigned number, const std::string& file, const std::string& text) {
    const std::string path = fmt::format("/sys/devices/system/cpu/cpu{}/{}", number, file);
    std::filesystem::create_directories(std::filesystem::path(root_ / path).parent_path());
    io::write_file(root_ / path, text + "\n");
  }
  [[nodiscard]] unsigned threads(const std::vector<unsigned>& cpus) const { return threads_for_cores(cpus, root_.path()); }

  io::TempDirectory root_;
};

}  // namespace

TEST_F(CoresTest, CpusOfWhichNothingIsKnownAreCores) {
  EXPECT_EQ(threads({0, 1, 2, 7}), 4U);
  EXPECT_EQ(threads({}), 1U);
}

TEST_F(CoresTest, SiblingsAreOneCore) {
  for (const unsigned number : {0U, 4U}) cpu(number, "topology/thread_siblings_list", "0,4");
  for (const unsigned number : {1U, 5U}) cpu(number, "topology/thread_siblings_list", "1,5");
  for (const unsigned number : {2U, 3U}) cpu(number, "topology/thread_siblings_list", "2-3");
  EXPECT_EQ(threads({0, 1, 2, 3, 4, 5}), 3U);
  EXPECT_EQ(threads({4, 5}), 2U) << "the first of each may not be used";
  EXPECT_EQ(threads({0, 4}), 1U);
}

TEST_F(CoresTest, CoresOfLessThanHalfTheCapacityAreLeftOut) {
  for (const unsigned number : {0U, 1U, 2U, 3U}) cpu(number, "cpu_capacity", "446");
  for (const unsigned number : {4U, 5U}) cpu(number, "cpu_capacity", "1024");
  EXPECT_EQ(threads({0, 1, 2, 3, 4, 5}), 2U);
  EXPECT_EQ(threads({0, 1, 2, 3}), 4U) << "all that may be used are alike";
  cpu(0, "cpu_capacity", "512");
  EXPECT_EQ(threads({0, 1, 2, 3, 4, 5}), 3U);
}

TEST_F(CoresTest, TheFirmwareSaysItWhereTheKernelDoesNot) {
  for (const unsigned number : {0U, 1U}) {
    cpu(number, "topology/thread_siblings_list", "0-1");
    cpu(number, "acpi_cppc/highest_perf", "60");
  }
  for (const unsigned number : {2U, 3U}) cpu(number, "acpi_cppc/highest_perf", "25");
  cpu(4, "acpi_cppc/highest_perf", "32");
  EXPECT_EQ(threads({0, 1, 2, 3, 4}), 2U);
}

TEST_F(CoresTest, SmallCoresOfHybridsCountAndThoseForIdleHoursDoNot) {
  for (const unsigned number : {0U, 1U}) cpu(number, "topology/thread_siblings_list", "0-1");
  for (const unsigned number : {0U, 1U}) cpu(number, "acpi_cppc/highest_perf", "65");
  for (const unsigned number : {2U, 3U, 4U, 5U}) {
    cpu(number, "topology/thread_siblings_list", std::to_string(number));
    cpu(number, "topology/cluster_cpus_list", "2-5");
    cpu(number, "acpi_cppc/highest_perf", "43");
  }
  EXPECT_EQ(threads({0, 1, 2, 3, 4, 5}), 5U);
  for (const unsigned number : {6U, 7U}) cpu(number, "acpi_cppc/highest_perf", "25");
  EXPECT_EQ(threads({0, 1, 2, 3, 4, 5, 6, 7}), 5U);
}

TEST_F(CoresTest, OnThisMachineThereAreNoMoreThanCpus) {
  EXPECT_GE(threads_for_cores(), 1U);
  EXPECT_LE(threads_for_cores(), read_machine().cpus);
  EXPECT_EQ(usable_cpu_numbers().size(), usable_cpus());
}

}  // namespace ecosort::planner
