#include "io/file_system.h"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ecosort::io {

namespace {

// Where files have a device number that no mount shows (btrfs: one for each subvolume; overlays), the kernel still knows the
// type.
std::string type_by_number(const std::string& path) {
  struct Named {
    std::uint32_t number;
    const char* name;
  };
  static constexpr std::array<Named, 8> known{{{BTRFS_SUPER_MAGIC, "btrfs"},
                                               {OVERLAYFS_SUPER_MAGIC, "overlay"},
                                               {FUSE_SUPER_MAGIC, "fuse"},
                                               {NFS_SUPER_MAGIC, "nfs"},
                                               {TMPFS_MAGIC, "tmpfs"},
                                               {0x2fc12fc1, "zfs"},
                                               {0xca451a4e, "bcachefs"},
                                               {0x58465342, "xfs"}}};
  struct statfs system{};
  if (::statfs(path.c_str(), &system) != 0) return "unknown";
  const auto number = static_cast<std::uint32_t>(system.f_type);
  for (const Named& type : known)
    if (type.number == number) return type.name;
  return fmt::format("{:#x}", number);
}

}  // namespace

// A line of mountinfo: "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [FIELD]... - TYPE SOURCE OPTIONS" (proc(5)).
FileSystem file_system_of(const std::string& path, std::uint64_t device_number) {
  FileSystem system;
  const std::string number = fmt::format("{}:{}", major(device_number), minor(device_number));
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string id, parent, device;
    words >> id >> parent >> device;
    const std::size_t separator = line.find(" - ");
    if (device != number || separator == std::string::npos) continue;
    std::istringstream rest(line.substr(separator + 3));
    rest >> system.type >> system.source >> system.options;
  }
  if (system.type.empty()) system.type = type_by_number(path);
  std::error_code error;
  const std::filesystem::path link = std::filesystem::read_symlink("/sys/dev/block/" + number, error);
  if (!error) system.device = link.filename().string();
  return system;
}

// Two places of the kernel show it: ext4's own attributes, and the list of journals in use.
std::optional<bool> has_journal(const FileSystem& system) {
  if (!system.type.starts_with("ext")) return std::nullopt;
  if (system.type == "ext2") return false;
  if (system.device.empty()) return std::nullopt;
  std::ifstream task("/sys/fs/ext4/" + system.device + "/journal_task");
  if (std::string word; task >> word) return word != "<none>";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/fs/jbd2", error))
    if (entry.path().filename().string().starts_with(system.device + "-")) return true;
  return std::nullopt;
}

// "fc stats:", then "N commits" (ext4_fc_info_show).
std::uint64_t fast_commits(const FileSystem& system) {
  if (system.type != "ext4" || system.device.empty()) return 0;
  std::ifstream info("/proc/fs/ext4/" + system.device + "/fc_info");
  std::string title;
  std::uint64_t count = 0;
  return std::getline(info, title) && info >> count ? count : 0;
}

bool frees_safely(const FileSystem& system) {
  return system.type == "xfs" || (system.type == "ext4" && has_journal(system).value_or(false));
}

}  // namespace ecosort::io
