#include "plan/machine.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

#include "base/memory.h"

namespace ecosort::plan {

namespace {

std::optional<std::uint64_t> parse_number(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  if (!(file >> word)) return std::nullopt;
  return parse_number(word);  // "max" is no number: no limit
}

std::uint64_t available_ram(const std::string& root) {
  std::ifstream file(root + "/proc/meminfo");
  std::string name, unit;
  for (std::uint64_t kib = 0; file >> name >> kib;) {
    if (name == "MemAvailable:") return kib * 1024;
    std::getline(file, unit);
  }
  return std::uint64_t{1} << 30U;
}

struct Limit {
  std::uint64_t bytes;
  const char* name;
};

// What a group and those above it still allow: its limit less what is used and cannot be reclaimed at once.
void tighten(Limit& best, const std::string& base, std::string path, const char* limit_file, const char* usage_file,
             const char* name) {
  while (true) {
    const std::string directory = base + path;
    if (const auto limit = number_in(directory + "/" + limit_file); limit && *limit < (std::uint64_t{1} << 60U)) {
      std::uint64_t cache = 0;
      std::ifstream stat(directory + "/memory.stat");
      std::string key;
      for (std::uint64_t value = 0; stat >> key >> value;)
        if (key == "inactive_file" || key == "total_inactive_file") cache = std::max(cache, value);
      const std::uint64_t usage = number_in(directory + "/" + usage_file).value_or(0);
      const std::uint64_t held = usage > cache ? usage - cache : 0;
      const std::uint64_t left = *limit > held ? *limit - held : 0;
      if (left < best.bytes) best = {left, name};
    }
    const std::size_t slash = path.find_last_of('/');
    if (path.empty() || slash == std::string::npos) return;
    path.resize(slash);
  }
}

void apply_cgroups(Limit& best, const std::string& root) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string number, controllers, path;
    if (!std::getline(fields, number, ':') || !std::getline(fields, controllers, ':') || !std::getline(fields, path)) continue;
    if (path == "/") path.clear();
    if (number == "0" && controllers.empty())
      tighten(best, root + "/sys/fs/cgroup", path, "memory.max", "memory.current", "cgroup v2 memory.max");
    else if (("," + controllers + ",").find(",memory,") != std::string::npos)
      tighten(best, root + "/sys/fs/cgroup/memory", path, "memory.limit_in_bytes", "memory.usage_in_bytes",
              "cgroup v1 memory.limit_in_bytes");
  }
}

unsigned usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<unsigned>(std::max(CPU_COUNT(&set), 1));
}

// CPU quota of the cgroup v2 group, in whole CPUs, rounded up.
unsigned quota_cpus(const std::string& root) {
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (line.rfind("0::", 0) != 0) continue;
    std::ifstream file(root + "/sys/fs/cgroup" + line.substr(3) + "/cpu.max");
    std::string quota;
    std::uint64_t period = 0;
    if (!(file >> quota >> period) || period == 0) continue;
    if (const auto value = parse_number(quota)) return static_cast<unsigned>(std::max<std::uint64_t>(div_up(*value, period), 1));
  }
  return std::numeric_limits<unsigned>::max();
}

}  // namespace

Machine read_machine(const std::string& root) {
  Limit best{available_ram(root), "available RAM"};
  apply_cgroups(best, root);
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    // Address space also holds what never becomes resident: libraries and the reserved parts of thread stacks.
    constexpr std::uint64_t reserved = std::uint64_t{256} << 20U;
    const std::uint64_t left = limit.rlim_cur > reserved ? limit.rlim_cur - reserved : limit.rlim_cur / 2;
    if (left < best.bytes) best = {left, "RLIMIT_AS"};
  }
  return {best.bytes, best.name, std::min(usable_cpus(), quota_cpus(root))};
}

std::uint64_t default_memory_bytes(const Machine& machine) {
  constexpr std::uint64_t least = std::uint64_t{8} << 20U;
  const std::uint64_t share = machine.limited_by == "available RAM" ? machine.available_bytes / 2 : machine.available_bytes;
  const std::uint64_t usable = share > fixed_overhead_bytes ? share - fixed_overhead_bytes : 0;
  return std::max(round_down(usable, std::uint64_t{1} << 20U), least);
}

}  // namespace ecosort::plan
