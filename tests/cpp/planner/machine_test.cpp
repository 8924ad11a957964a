// Reads what the machine allows from trees that look like the kernel's.
#include "planner/machine.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "base/cpus.h"
#include "cpp/io/test_support.h"

namespace ecosort::planner {

namespace {

constexpr std::uint64_t MiB = 1U << 20U, GiB = 1024 * MiB;

// A tree with 8 GiB of available memory, and the groups that a test adds.
class MachineTest : public ::testing::Test {
 protected:
  MachineTest() {
    put("/proc/meminfo",
        "MemTotal:       16777216 kB\nMemFree:         1000000 kB\nMemAvailable:    8388608 kB\nBuffers: 1 kB\n");
  }

  void put(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ / path).parent_path());
    io::write_file(root_ / path, text);
  }
  // A version 2 group below /sys/fs/cgroup.
  void limit(const std::string& group, const std::string& most, std::uint64_t used = 0, std::uint64_t reclaimable = 0) {
    put("/sys/fs/cgroup" + group + "/memory.max", most + "\n");
    put("/sys/fs/cgroup" + group + "/memory.current", fmt::format("{}\n", used));
    put("/sys/fs/cgroup" + group + "/memory.stat", fmt::format("anon 5\nfile 7\ninactive_file {}\nactive_file 9\n", reclaimable));
  }
  static std::string text(std::uint64_t bytes) { return std::to_string(bytes); }
  [[nodiscard]] Machine read() const { return read_machine(root_.path()); }

  io::TempDirectory root_;
};

}  // namespace

TEST_F(MachineTest, WithoutGroupsTheAvailableMemoryCounts) {
  EXPECT_EQ(read().available_bytes, 8 * GiB);
  EXPECT_EQ(read().limited_by, "available RAM");
  EXPECT_EQ(read().cpus, usable_cpus());
}

TEST_F(MachineTest, AGroupAllowsItsLimitLessWhatIsUsedAndCannotBeReclaimed) {
  put("/proc/self/cgroup", "0::/user.slice/job\n");
  limit("/user.slice/job", text(GiB), 600 * MiB, 400 * MiB);
  EXPECT_EQ(read().available_bytes, GiB - 200 * MiB);
  EXPECT_EQ(read().limited_by, "cgroup v2 memory.max");
  limit("/user.slice/job", text(GiB), 100 * MiB, 400 * MiB);
  EXPECT_EQ(read().available_bytes, GiB) << "never more than the limit";
  limit("/user.slice/job", text(GiB), 2 * GiB, 0);
  EXPECT_EQ(read().available_bytes, 0U) << "the limit was lowered below what is used";
}

TEST_F(MachineTest, AGroupWithoutALimitOrWithMoreThanThereIsDoesNotMatter) {
  put("/proc/self/cgroup", "0::/user.slice\n");
  for (const std::string& most : {std::string("max"), text(64 * GiB), std::string("")}) {
    limit("/user.slice", most, 5 * GiB);
    EXPECT_EQ(read().available_bytes, 8 * GiB) << most;
    EXPECT_EQ(read().limited_by, "available RAM") << most;
  }
}

TEST_F(MachineTest, TheTightestOfAllGroupsAboveCounts) {
  put("/proc/self/cgroup", "0::/a/b/c\n");
  limit("/a/b/c", "max");
  limit("/a/b", text(3 * GiB));
  limit("/a", text(2 * GiB), 512 * MiB);
  limit("", text(7 * GiB));
  EXPECT_EQ(read().available_bytes, 2 * GiB - 512 * MiB);
}

TEST_F(MachineTest, InAContainerItsOwnGroupIsTheTopmost) {
  for (const char* path : {"/", "/docker/0123456789abcdef"}) {  // with a name space of its own, and without
    put("/proc/self/cgroup", fmt::format("0::{}\n", path));
    limit("", text(512 * MiB), 12 * MiB);
    EXPECT_EQ(read().available_bytes, 500 * MiB) << path;
  }
}

TEST_F(MachineTest, TheFirstVersionOfControlGroupsIsReadToo) {
  put("/proc/self/cgroup", "5:cpu,cpuacct:/other\n4:hugetlb,memory:/job/inner\n1:name=systemd:/\n");
  put("/sys/fs/cgroup/memory/job/inner/memory.limit_in_bytes", "9223372036854771712\n");  // none
  put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", text(GiB));
  put("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", text(700 * MiB));
  put("/sys/fs/cgroup/memory/job/memory.stat", "cache 1\ninactive_file 2\ntotal_inactive_file 314572800\n");
  EXPECT_EQ(read().available_bytes, GiB - 400 * MiB);
  EXPECT_EQ(read().limited_by, "cgroup v1 memory.limit_in_bytes");
}

TEST_F(MachineTest, AQuotaOfProcessorTimeIsWholeProcessorsRoundedUp) {
  put("/proc/self/cgroup", "0::/a/b\n");
  for (const auto& [quota, most] :
       {std::pair{"10000 100000", 1U}, {"100000 100000", 1U}, {"100001 100000", 2U}, {"350000 100000", 4U}}) {
    put("/sys/fs/cgroup/a/b/cpu.max", quota);
    EXPECT_EQ(read().cpus, std::min(most, usable_cpus())) << quota;
  }
  for (const char* none : {"max 100000", "", "100000 0", "much 100000"}) {
    put("/sys/fs/cgroup/a/b/cpu.max", none);
    EXPECT_EQ(read().cpus, usable_cpus()) << none;
  }
  put("/sys/fs/cgroup/a/cpu.max", "50000 100000\n");  // of the group above
  EXPECT_EQ(read().cpus, 1U);
}

TEST_F(MachineTest, TheFirstVersionOfControlGroupsLimitsProcessorTimeToo) {
  put("/proc/self/cgroup", "5:cpu,cpuacct:/job/inner\n4:memory:/elsewhere\n");
  put("/sys/fs/cgroup/cpu/job/inner/cpu.cfs_quota_us", "-1\n");  // none
  put("/sys/fs/cgroup/cpu/job/inner/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(read().cpus, usable_cpus());
  put("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "50000\n");  // of the group above
  put("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(read().cpus, 1U);
}

TEST(DefaultMemory, IsHalfOfFreeMemoryButAllOfALimitLessTheOverhead) {
  EXPECT_EQ(default_memory_bytes({8 * GiB, "available RAM", 1}), 4 * GiB - fixed_overhead_bytes);
  EXPECT_EQ(default_memory_bytes({GiB, "cgroup v2 memory.max", 1}), GiB - fixed_overhead_bytes);
  EXPECT_EQ(default_memory_bytes({GiB + 4'321, "RLIMIT_AS", 1}), GiB - fixed_overhead_bytes) << "whole MiB";
  EXPECT_EQ(default_memory_bytes({20 * MiB, "cgroup v2 memory.max", 1}), 8 * MiB) << "less cannot sort much";
}

}  // namespace ecosort::planner
