#include "planner/machine.h"

#include <sys/resource.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpus.h"
#include "base/memory.h"
#include "base/system_file.h"

namespace ecosort::planner {

namespace {

// Reads the value of the line that begins with the name.
std::optional<std::uint64_t> value_of(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    std::string_view line = take_line(text);
    if (take_word(line) == name) return number_of(take_word(line));
  }
  return std::nullopt;
}

std::uint64_t available_ram(const std::string& root) {
  return value_of(read_system_file(root + "/proc/meminfo"), "MemAvailable:").value_or(std::uint64_t{1} << 20U) * 1024;
}

struct Limit {
  std::uint64_t bytes;
  const char* name;
};

// Calls for the directory of a control group and for those of all groups above it. A group that cannot be seen from here (a
// container shows its own as the topmost) is looked up all the same: then the topmost has what there is to know.
template <class Look>
void for_group_and_above(const std::string& base, std::string path, const Look& look) {
  while (true) {
    look(base + path);
    const std::size_t slash = path.find_last_of('/');
    if (path.empty() || slash == std::string::npos) return;
    path.resize(slash);
  }
}

// Lowers `best` to what a group still allows: its limit less what is used and cannot be reclaimed at once.
void tighten(Limit& best, const std::string& directory, const char* limit_file, const char* usage_file, const char* name) {
  const auto limit = read_system_number(directory + "/" + limit_file);
  if (!limit || *limit >= std::uint64_t{1} << 60U) return;
  const std::string stat = read_system_file(directory + "/memory.stat");
  const std::uint64_t cache =
      std::max(value_of(stat, "inactive_file").value_or(0), value_of(stat, "total_inactive_file").value_or(0));
  const std::uint64_t usage = read_system_number(directory + "/" + usage_file).value_or(0);
  const std::uint64_t held = usage > cache ? usage - cache : 0;
  const std::uint64_t left = *limit > held ? *limit - held : 0;
  if (left < best.bytes) best = {left, name};
}

// A line of /proc/self/cgroup, "number:controllers:path"; version 2 has the number 0 and no controllers.
struct Group {
  bool is_version_2 = false;
  std::string controllers;  // ",cpu,cpuacct,"
  std::string path;         // "" for the topmost
};

std::vector<Group> read_groups(const std::string& root) {
  std::vector<Group> groups;
  const std::string text = read_system_file(root + "/proc/self/cgroup");
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = take_line(rest);
    const std::size_t first = line.find(':'), second = line.find(':', std::min(first, line.size() - 1) + 1);
    if (second == std::string_view::npos || second + 1 == line.size()) continue;
    const std::string controllers(line.substr(first + 1, second - first - 1));
    const std::string_view path = line.substr(second + 1);
    groups.push_back({line.substr(0, first) == "0" && controllers.empty(), "," + controllers + ",",
                      path == "/" ? std::string() : std::string(path)});
  }
  return groups;
}

void apply_memory_limits(Limit& best, const std::vector<Group>& groups, const std::string& root) {
  for (const Group& group : groups) {
    if (group.is_version_2)
      for_group_and_above(root + "/sys/fs/cgroup", group.path, [&](const std::string& directory) {
        tighten(best, directory, "memory.max", "memory.current", "cgroup v2 memory.max");
      });
    else if (group.controllers.find(",memory,") != std::string::npos)
      for_group_and_above(root + "/sys/fs/cgroup/memory", group.path, [&](const std::string& directory) {
        tighten(best, directory, "memory.limit_in_bytes", "memory.usage_in_bytes", "cgroup v1 memory.limit_in_bytes");
      });
  }
}

// CPU time that a group may use in a period, both in microseconds: in whole CPUs, rounded up.
void apply_quota(unsigned& cpus, std::optional<std::uint64_t> quota, std::optional<std::uint64_t> period) {
  if (quota && period && *period > 0) cpus = static_cast<unsigned>(std::clamp<std::uint64_t>(div_up(*quota, *period), 1, cpus));
}

void apply_quota_version_2(unsigned& cpus, const std::string& directory) {
  const std::string text = read_system_file(directory + "/cpu.max");
  std::string_view rest = text;
  const std::string_view quota = take_word(rest), period = take_word(rest);
  apply_quota(cpus, number_of(quota), number_of(period));
}

// A quota of -1 is no number: no limit.
void apply_quota_version_1(unsigned& cpus, const std::string& directory) {
  apply_quota(cpus, read_system_number(directory + "/cpu.cfs_quota_us"), read_system_number(directory + "/cpu.cfs_period_us"));
}

void apply_cpu_limits(unsigned& cpus, const std::vector<Group>& groups, const std::string& root) {
  const std::string base = root + "/sys/fs/cgroup";
  for (const Group& group : groups) {
    if (group.is_version_2)
      for_group_and_above(base, group.path, [&](const std::string& directory) { apply_quota_version_2(cpus, directory); });
    else if (group.controllers.find(",cpu,") != std::string::npos)
      for_group_and_above(base + "/cpu", group.path,
                          [&](const std::string& directory) { apply_quota_version_1(cpus, directory); });
  }
}

}  // namespace

Machine read_machine(const std::string& root) {
  const std::vector<Group> groups = read_groups(root);
  Limit best{available_ram(root), "available RAM"};
  apply_memory_limits(best, groups, root);
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    // Address space also holds what never becomes resident: libraries and the reserved parts of thread stacks.
    constexpr std::uint64_t reserved = std::uint64_t{256} << 20U;
    const std::uint64_t left = limit.rlim_cur > reserved ? limit.rlim_cur - reserved : limit.rlim_cur / 2;
    if (left < best.bytes) best = {left, "RLIMIT_AS"};
  }
  unsigned cpus = usable_cpus();
  apply_cpu_limits(cpus, groups, root);
  return {best.bytes, best.name, std::min(cpus, most_threads)};
}

std::uint64_t default_memory_bytes(const Machine& machine) {
  const std::uint64_t share = machine.limited_by == "available RAM" ? machine.available_bytes / 2 : machine.available_bytes;
  const std::uint64_t usable = share > fixed_overhead_bytes ? share - fixed_overhead_bytes : 0;
  return std::max(round_down(usable, std::uint64_t{1} << 20U), least_default_memory_bytes);
}

}  // namespace ecosort::planner
