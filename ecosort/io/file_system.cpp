#include "io/file_system.h"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "base/system_file.h"

namespace ecosort::io {

namespace {

// The kernel knows the type even of files whose device number no mount shows (btrfs: one for each subvolume; overlays).
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
  const std::string text = read_system_file("/proc/self/mountinfo");
  for (std::string_view mounts = text; !mounts.empty();) {
    std::string_view line = take_line(mounts);
    const std::size_t separator = line.find(" - ");
    std::string_view rest = line.substr(std::min(separator, line.size()));
    (void)take_word(line);
    (void)take_word(line);
    if (take_word(line) != number || separator == std::string_view::npos) continue;
    (void)take_word(rest);
    system.type = take_word(rest);
    system.source = take_word(rest);
    system.options = take_word(rest);
  }
  if (system.type.empty()) system.type = type_by_number(path);
  system.device = device_name_of(device_number);
  return system;
}

std::string device_name_of(std::uint64_t device_number) {
  std::error_code error;
  const std::string name = fmt::format("/sys/dev/block/{}:{}", major(device_number), minor(device_number));
  const std::filesystem::path link = std::filesystem::read_symlink(name, error);
  return error ? "" : link.filename().string();
}

// Two places of the kernel show it: ext4's own attributes, and the list of journals in use.
std::optional<bool> has_journal(const FileSystem& system) {
  if (!system.type.starts_with("ext")) return std::nullopt;
  if (system.type == "ext2") return false;
  if (system.device.empty()) return std::nullopt;
  const std::string task = read_system_file("/sys/fs/ext4/" + system.device + "/journal_task");
  std::string_view rest = task;
  if (const std::string_view word = take_word(rest); !word.empty()) return word != "<none>";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/fs/jbd2", error))
    if (entry.path().filename().string().starts_with(system.device + "-")) return true;
  return std::nullopt;
}

// "fc stats:", then "N commits" (ext4_fc_info_show).
std::uint64_t fast_commits(const FileSystem& system) {
  if (system.type != "ext4" || system.device.empty()) return 0;
  const std::string info = read_system_file("/proc/fs/ext4/" + system.device + "/fc_info");
  std::string_view rest = info;
  (void)take_line(rest);
  const std::string_view number = take_word(rest);
  std::uint64_t count = 0;
  (void)std::from_chars(number.data(), number.data() + number.size(), count);
  return count;
}

bool frees_safely(const FileSystem& system) {
  return system.type == "xfs" || (system.type == "ext4" && has_journal(system).value_or(false));
}

}  // namespace ecosort::io
