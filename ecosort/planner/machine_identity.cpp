// Identifies this machine by the same facts, in the same form, as ecosort-tune writes into a profile.
#include <fmt/format.h>
#include <sha256.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>

#include "planner/profile.h"

namespace ecosort::planner {

namespace {

constexpr double memory_tolerance = 0.02;
constexpr std::size_t hash_digits = 16;

std::string stripped(const std::string& text) {
  constexpr const char* blanks = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(blanks);
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string hashed(const std::string& machine_id) {
  if (machine_id.empty()) return "";
  const std::string text = "ecosort " + machine_id;
  std::array<char, SHA256_DIGEST_STRING_LENGTH> digits{};
  SHA256Data(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), digits.data());
  return std::string(digits.data()).substr(0, hash_digits);
}

// The value of the first line "NAME : value" whose name is one of `names`.
std::string field_of(const std::string& path, std::initializer_list<std::string_view> names) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::string value = stripped(line.substr(colon + 1));
    if (!value.empty() && std::ranges::find(names, stripped(line.substr(0, colon))) != names.end()) return value;
  }
  return "";
}

std::string processor_name(const std::string& root) {
  if (std::string name = field_of(root + "/proc/cpuinfo", {"model name", "Model"}); !name.empty()) return name;
  utsname host{};
  uname(&host);
  return static_cast<const char*>(host.machine);
}

template <class T>
std::optional<std::string> told(const char* what, const T& theirs, const T& own) {
  return fmt::format("its {} is {}, here it is {}", what, theirs, own);
}

}  // namespace

MachineIdentity this_machine(const std::string& root) {
  std::ifstream file(root + "/etc/machine-id");
  const std::string machine_id{std::istreambuf_iterator<char>(file), {}};
  const std::string memory = field_of(root + "/proc/meminfo", {"MemTotal"});  // "16318484 kB"
  return {.machine_id = hashed(stripped(machine_id)),
          .processor = processor_name(root),
          .cpus = static_cast<std::uint64_t>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L)),
          .memory_bytes = std::strtoull(memory.c_str(), nullptr, 10) * 1024};
}

std::optional<std::string> difference(const MachineIdentity& here, const MachineIdentity& theirs) {
  if (!here.machine_id.empty() && !theirs.machine_id.empty() && here.machine_id != theirs.machine_id)
    return told("installation", theirs.machine_id, here.machine_id);
  if (here.processor != theirs.processor) return told("processor", theirs.processor, here.processor);
  if (here.cpus != theirs.cpus) return told("number of CPUs", theirs.cpus, here.cpus);
  const auto own = static_cast<double>(here.memory_bytes), other = static_cast<double>(theirs.memory_bytes);
  if (std::abs(own - other) > memory_tolerance * std::max(own, other))
    return told("memory", theirs.memory_bytes, here.memory_bytes);
  return std::nullopt;
}

}  // namespace ecosort::planner
