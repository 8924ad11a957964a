#include "demsort_inplace/file_system.h"

#include <fmt/format.h>
#include <sys/sysmacros.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace ecosort::inplace {

// A line of mountinfo: "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [FIELD]... - TYPE SOURCE OPTIONS" (proc(5)).
FileSystem file_system_of(std::uint64_t device_number) {
  FileSystem system{.type = "?", .source = {}, .device = {}};
  const std::string number = fmt::format("{}:{}", major(device_number), minor(device_number));
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string id, parent, device;
    words >> id >> parent >> device;
    const std::size_t separator = line.find(" - ");
    if (device != number || separator == std::string::npos) continue;
    std::istringstream rest(line.substr(separator + 3));
    rest >> system.type >> system.source;
  }
  std::error_code error;
  const std::filesystem::path link = std::filesystem::read_symlink("/sys/dev/block/" + number, error);
  if (!error) system.device = link.filename().string();
  return system;
}

// Two places where the kernel tells: ext4's own attributes, and the list of journals in use.
bool has_ext4_journal(const FileSystem& system) {
  if (system.type != "ext4" || system.device.empty()) return false;
  std::ifstream task("/sys/fs/ext4/" + system.device + "/journal_task");
  if (std::string word; task >> word) return word != "<none>";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/fs/jbd2", error))
    if (entry.path().filename().string().starts_with(system.device + "-")) return true;
  return false;
}

}  // namespace ecosort::inplace
