#include "io/direct_io.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/errors.h"

namespace ecosort::io {

namespace {

constexpr std::size_t smallest_unit = 512;
constexpr std::size_t safe_unit = 4096;  // no Linux file system or device in use asks for more

// Linux 6.1 reports the unit; older headers lack the names, so the two 32-bit fields are read by their place in the ABI.
constexpr unsigned want_direct_io_unit = 0x2000;  // STATX_DIOALIGN
constexpr std::size_t memory_unit_at = 0x98;      // stx_dio_mem_align
constexpr std::size_t offset_unit_at = 0x9c;      // stx_dio_offset_align

[[nodiscard]] std::uint32_t field(const struct statx& facts, std::size_t at) noexcept {
  std::uint32_t value = 0;
  std::memcpy(&value, reinterpret_cast<const char*>(&facts) + at, sizeof value);
  return value;
}

// The unit the kernel states; 0 if it states that there is no direct I/O; nothing if it states nothing.
[[nodiscard]] std::optional<std::size_t> stated_unit(int fd) noexcept {
  struct statx facts{};
  if (::statx(fd, "", AT_EMPTY_PATH, want_direct_io_unit, &facts) != 0 || (facts.stx_mask & want_direct_io_unit) == 0)
    return std::nullopt;
  const std::size_t memory = field(facts, memory_unit_at), offset = field(facts, offset_unit_at);
  if (memory == 0 || offset == 0) return 0;
  return std::bit_ceil(std::max({memory, offset, smallest_unit}));
}

// Reads one unit at an offset and an address that are multiples of this unit and of no larger one.
[[nodiscard]] bool reads_in_units_of(int fd, std::size_t unit) noexcept {
  alignas(2 * safe_unit) std::array<std::byte, 3 * safe_unit> memory;
  return ::pread(fd, memory.data() + unit, unit, static_cast<off_t>(unit)) >= 0;
}

// Tries reads on the file itself where the kernel states nothing. A file with less than two blocks gives no proof: reads at its
// end succeed whatever their alignment.
[[nodiscard]] std::size_t probed_unit(int fd) noexcept {
  struct stat status{};
  const bool is_readable = (::fcntl(fd, F_GETFL) & O_ACCMODE) != O_WRONLY;
  if (!is_readable || ::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return safe_unit;
  if (static_cast<std::size_t>(status.st_size) < 2 * safe_unit) return safe_unit;
  if (reads_in_units_of(fd, smallest_unit)) return smallest_unit;
  if (reads_in_units_of(fd, safe_unit)) return safe_unit;
  return 0;
}

[[nodiscard]] bool is_memory_type(const struct statfs& system) noexcept {
  return system.f_type == TMPFS_MAGIC || static_cast<std::uint32_t>(system.f_type) == static_cast<std::uint32_t>(RAMFS_MAGIC);
}

[[nodiscard]] struct statfs status_of_file_system(const std::string& directory) {
  struct statfs system{};
  if (::statfs(directory.c_str(), &system) != 0) throw IoError::from_call("examine the file system of", directory, errno);
  return system;
}

}  // namespace

std::size_t enable_direct_io(int fd) noexcept {
  struct statfs system{};
  // Since Linux 6.6 tmpfs accepts the flag and copies all the same.
  if (::fstatfs(fd, &system) != 0 || is_memory_type(system)) return 1;
  const std::optional<std::size_t> stated = stated_unit(fd);
  if (stated == 0) return 1;
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_DIRECT) != 0) return 1;
  const std::size_t unit = stated ? *stated : probed_unit(fd);
  if (unit != 0) return unit;
  ::fcntl(fd, F_SETFL, flags);
  return 1;
}

bool is_in_memory(const std::string& directory) { return is_memory_type(status_of_file_system(directory)); }

bool reuses_released_space(const std::string& directory) {
  static constexpr std::uint32_t bcachefs = 0xca451a4e, zfs = 0x2fc12fc1, exfat = 0x2011bab0;
  const auto type = static_cast<std::uint32_t>(status_of_file_system(directory).f_type);
  static constexpr std::array<std::uint32_t, 8> others{
      BTRFS_SUPER_MAGIC, MSDOS_SUPER_MAGIC, NFS_SUPER_MAGIC, FUSE_SUPER_MAGIC, NILFS_SUPER_MAGIC, bcachefs, zfs, exfat};
  return std::ranges::find(others, type) == others.end();
}

}  // namespace ecosort::io
