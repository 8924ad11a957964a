#include "demsort_inplace/preflight.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/stat.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/quota.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/descriptor.h"
#include "base/errors.h"
#include "base/size_text.h"
#include "demsort_inplace/job_directory.h"
#include "io/durable_names.h"
#include "io/file_system.h"

namespace ecosort::demsort_inplace {

namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw UsageError(fmt::format("'{}' cannot be sorted in place: {}", path, reason));
}

[[noreturn]] void refuse_errno(const std::string& path, const char* what) {
  refuse(path, fmt::format("{}: {}", what, std::strerror(errno)));
}

void check_kind(const std::string& path, const struct stat& info, const std::string& instead) {
  if (S_ISLNK(info.st_mode)) refuse(path, "it is a symbolic link; name the file that it leads to");
  if (S_ISDIR(info.st_mode)) refuse(path, "it is a directory");
  if (!S_ISREG(info.st_mode)) refuse(path, "it is not a regular file; use " + instead);
  if (info.st_nlink > 1)
    refuse(path, fmt::format("it has {} hard links, and the others would still be the unsorted file; copy it, or remove them",
                             info.st_nlink));
  // A process that writes to a file loses these, and so would the sort.
  if ((info.st_mode & (S_ISUID | S_ISGID)) != 0 || ::lgetxattr(path.c_str(), "security.capability", nullptr, 0) > 0)
    refuse(path, "it has set-id bits or capabilities, which cannot be kept; remove them (chmod ug-s, setcap -r)");
  struct statx facts{};
  if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &facts) != 0) return;
  if ((facts.stx_attributes & facts.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0)
    refuse(path, "it is a mount point; name the file that is mounted there");
  if ((facts.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND)) != 0)
    refuse(path, "it is marked immutable or append-only (see lsattr); remove the mark with chattr");
}

// The file is renamed into a new directory beside it.
void check_directory(const std::string& path, const struct stat& info) {
  const std::string parent = JobPaths(path).parent;
  struct stat directory{};
  if (::stat(parent.c_str(), &directory) != 0) refuse_errno(path, fmt::format("its directory '{}'", parent).c_str());
  if (::access(parent.c_str(), W_OK | X_OK) != 0)
    refuse_errno(path, fmt::format("its directory '{}' is not writable", parent).c_str());
  const uid_t user = ::geteuid();
  if ((directory.st_mode & S_ISVTX) != 0 && user != 0 && user != info.st_uid && user != directory.st_uid)
    refuse(path, "it belongs to another user in a sticky directory; copy it into a directory of yours");
}

void check_file_system(const std::string& path, const struct stat& info, const std::string& instead) {
  const io::FileSystem system = io::file_system_of(path, info.st_dev);
  const std::string way_out = "copy it to ext4 or XFS, or use " + instead;
  if (io::makes_fast_commits(JobPaths(path).parent)) refuse(path, io::fast_commits_reason);
  if (io::frees_safely(system)) return;
  if (system.type != "ext4")
    refuse(path, fmt::format("its file system is {}, and must be ext4 or XFS; {}", system.type, way_out));
  refuse(path, fmt::format("its ext4 file system has no journal, so that a crash could mix up blocks; {}", way_out));
}

// A sync and a read must concern what the drive has, not what the kernel remembers of it.
constexpr const char* no_direct_io = "its file system does no direct I/O (is it mounted with data=journal?)";

// A read lease is granted only while no one has the file open for writing. It is given back at once: the rename hides the file.
void check_not_written(const std::string& path, int fd) {
  if (::fcntl(fd, F_SETLEASE, F_RDLCK) == 0) {
    if (::fcntl(fd, F_SETLEASE, F_UNLCK) != 0) refuse_errno(path, "its lease");
  } else if (errno == EAGAIN) {
    refuse(path, "another program has it open for writing (fuser -v shows which); end that first");
  }
}

// All extents of the file, in order.
std::vector<fiemap_extent> extents_of(const std::string& path, int fd) {
  constexpr unsigned batch = 256;
  std::vector<std::byte> memory(sizeof(fiemap) + batch * sizeof(fiemap_extent));
  std::vector<fiemap_extent> extents;
  for (std::uint64_t start = 0;;) {
    std::ranges::fill(memory, std::byte{0});
    auto* const map = reinterpret_cast<fiemap*>(memory.data());
    map->fm_start = start;
    map->fm_length = FIEMAP_MAX_OFFSET - start;
    map->fm_flags = FIEMAP_FLAG_SYNC;
    map->fm_extent_count = batch;
    if (::ioctl(fd, FS_IOC_FIEMAP, map) != 0) refuse_errno(path, "the list of its blocks");
    const auto* const first = reinterpret_cast<const fiemap_extent*>(memory.data() + sizeof(fiemap));
    extents.insert(extents.end(), first, first + map->fm_mapped_extents);
    if (map->fm_mapped_extents == 0 || (extents.back().fe_flags & FIEMAP_EXTENT_LAST) != 0) return extents;
    start = extents.back().fe_logical + extents.back().fe_length;
  }
}

// Checks that what is cut off becomes free space, and that all of it is there already.
void check_blocks(const std::string& path, int fd, std::uint64_t size_bytes, const std::string& instead) {
  std::uint64_t reached = 0;
  for (const fiemap_extent& extent : extents_of(path, fd)) {
    if (extent.fe_logical > reached && reached < size_bytes) break;
    if ((extent.fe_flags & FIEMAP_EXTENT_SHARED) != 0)
      refuse(path,
             "it shares blocks with another file (a reflink copy), so that its space would not become free; copy it with "
             "cp --reflink=never");
    if ((extent.fe_flags & (FIEMAP_EXTENT_ENCODED | FIEMAP_EXTENT_DATA_INLINE)) != 0)
      refuse(path, "its blocks are compressed, encrypted or kept in its inode; use " + instead);
    reached = extent.fe_logical + extent.fe_length;
  }
  if (reached < size_bytes)
    refuse(path, fmt::format("it is sparse (a hole at byte {}), so that it would need more space than it has; copy it with cp "
                             "--sparse=never",
                             reached));
}

struct QuotaOwner {
  int type;
  unsigned id;
  const char* name;
  std::uint64_t need;
};

void check_one_quota(const std::string& path, const std::string& source, const QuotaOwner& owner) {
  dqblk quota{};
  if (::quotactl(QCMD(Q_GETQUOTA, owner.type), source.c_str(), static_cast<int>(owner.id), reinterpret_cast<caddr_t>(&quota)) !=
      0)
    return;  // none is kept
  const std::uint64_t limit = quota.dqb_bhardlimit * 1024, left = limit - std::min<std::uint64_t>(limit, quota.dqb_curspace);
  if (limit == 0 || owner.need <= left) return;
  refuse(path, fmt::format("the quota of {} {} leaves {} ({} bytes), {} ({} bytes) are needed; have it raised", owner.name,
                           owner.id, format_bytes(left), left, format_bytes(owner.need), owner.need));
}

// New files get the project of their directory.
void check_project_quota(const io::File& file, const std::string& path, const std::string& source, std::uint64_t need_bytes,
                         std::uint64_t run_bytes) {
  const Descriptor directory(::open(JobPaths(path).parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  fsxattr of_directory{}, of_file{};
  if (!directory.is_open() || ::ioctl(directory.get(), FS_IOC_FSGETXATTR, &of_directory) != 0 ||
      ::ioctl(file.fd(), FS_IOC_FSGETXATTR, &of_file) != 0 || (of_directory.fsx_xflags & FS_XFLAG_PROJINHERIT) == 0)
    return;
  const bool is_same = of_directory.fsx_projid == of_file.fsx_projid;
  check_one_quota(path, source, {PRJQUOTA, of_directory.fsx_projid, "project", is_same ? need_bytes : need_bytes + run_bytes});
}

}  // namespace

io::FilePtr open_fit_file(const std::string& path, io::PosixStorage& storage, const std::string& instead) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0)
    throw UsageError(fmt::format("cannot sort '{}' in place: {}", path, std::strerror(errno)));
  check_kind(path, info, instead);
  check_directory(path, info);
  check_file_system(path, info, instead);
  {
    const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (!descriptor.is_open()) refuse_errno(path, "it cannot be read");
    check_not_written(path, descriptor.get());
    check_blocks(path, descriptor.get(), static_cast<std::uint64_t>(info.st_size), instead);
  }
  io::FilePtr file;
  try {
    file = storage.open_named(path, io::Role::input, io::Caching::direct_if_possible);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  const io::FileState now = storage.state(*file);
  if (now.inode != info.st_ino || now.device != info.st_dev) refuse(path, "it was replaced just now; start again");
  if (!file->is_direct()) refuse(path, fmt::format("{}; mount it otherwise, or use {}", no_direct_io, instead));
  if (::flock(file->fd(), LOCK_EX | LOCK_NB) != 0) refuse(path, "another program has locked it; end that first");
  return file;
}

void check_place(const io::File& journal, const JobHeader& header, const std::string& path) {
  struct stat info{};
  if (journal.fd() < 0 || ::fstat(journal.fd(), &info) != 0) return;
  const std::string directory = JobPaths(path).directory;
  constexpr const char* way_out = "copy the directory to ext4 with a journal or to XFS, then run there: ecosort resume";
  const io::FileSystem system = io::file_system_of(directory, info.st_dev);
  if (!header.layout.keeps_runs && !io::frees_safely(system))
    throw JobRefused(
        fmt::format("the job in '{}' cannot continue there: its file system is {}{}, where a crash could mix up blocks; {}",
                    directory, system.type, system.type == "ext4" ? " without a journal" : "", way_out));
  if (header.is_in_place() && !journal.is_direct())
    throw JobRefused(fmt::format("the job in '{}' cannot continue there: {}; {}", directory, no_direct_io, way_out));
  if (const std::uint64_t unit = block_bytes(directory); !header.layout.keeps_runs && unit > header.layout.unit)
    throw JobRefused(fmt::format("the job in '{}' cannot continue there: blocks have {} bytes, it was laid out for {}; {}",
                                 directory, unit, header.layout.unit, way_out));
}

std::uint64_t block_bytes(const std::string& directory) {
  struct statfs system{};
  return ::statfs(directory.c_str(), &system) == 0 ? static_cast<std::uint64_t>(system.f_bsize) : 1;
}

namespace {

// The beginning of what XFS_IOC_FSGEOMETRY_V1 returns (xfs_fs.h is of a package of its own).
struct XfsGeometry {
  std::uint32_t block_bytes, realtime_extent, group_blocks, groups;
  std::array<std::uint32_t, 24> rest;
};
static_assert(sizeof(XfsGeometry) == 112);
constexpr unsigned long xfs_geometry = _IOR('X', 100, XfsGeometry);

}  // namespace

std::uint64_t held_bytes(const std::string& directory) {
  constexpr std::uint64_t blocks_of_group = 16;
  const Descriptor open(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct statfs system{};
  XfsGeometry geometry{};
  if (!open.is_open() || ::fstatfs(open.get(), &system) != 0 || system.f_type != XFS_SUPER_MAGIC ||
      ::ioctl(open.get(), xfs_geometry, &geometry) != 0)
    return 0;
  return blocks_of_group * geometry.groups * geometry.block_bytes;
}

namespace {

// While it is held no one else opens the file, so that no byte can be appended to it.
class OwnFile {
 public:
  explicit OwnFile(int fd) : fd_(fd), is_held_(::fcntl(fd, F_SETLEASE, F_WRLCK) == 0) {}
  ~OwnFile() {
    if (is_held_) (void)::fcntl(fd_, F_SETLEASE, F_UNLCK);
  }
  OwnFile(const OwnFile&) = delete;
  OwnFile& operator=(const OwnFile&) = delete;
  [[nodiscard]] bool is_held() const noexcept { return is_held_; }

 private:
  int fd_;
  bool is_held_;
};

std::uint64_t bytes_behind(const io::File& file, const struct stat& info) {
  const std::uint64_t end = round_up(static_cast<std::uint64_t>(info.st_size), static_cast<std::uint64_t>(info.st_blksize));
  std::uint64_t bytes = 0;
  for (const fiemap_extent& extent : extents_of(file.path(), file.fd())) {
    const std::uint64_t extent_end = extent.fe_logical + extent.fe_length;
    if (extent_end > end) bytes += extent_end - std::max<std::uint64_t>(end, extent.fe_logical);
  }
  return bytes;
}

}  // namespace

std::uint64_t bytes_beyond_end(const io::File& file) {
  struct stat info{};
  if (::fstat(file.fd(), &info) != 0) return 0;
  const std::uint64_t bytes = bytes_behind(file, info);
  return bytes > 0 && OwnFile(file.fd()).is_held() ? bytes : 0;
}

std::string give_back_beyond_end(const io::File& file) {
  const OwnFile own(file.fd());
  struct stat info{};
  if (!own.is_held() || ::fstat(file.fd(), &info) != 0) return {};
  const std::uint64_t bytes = bytes_behind(file, info);
  const std::array<timespec, 2> times{timespec{0, UTIME_OMIT}, info.st_mtim};
  if (bytes == 0 || ::ftruncate(file.fd(), info.st_size) != 0) return {};
  (void)::futimens(file.fd(), times.data());
  return fmt::format("'{}' gives back {} ({} bytes) of blocks beyond its end, which its file system had put aside", file.path(),
                     format_bytes(bytes), bytes);
}

void check_quota(const io::File& file, const std::string& path, std::uint64_t need_bytes, std::uint64_t run_bytes) {
  struct stat info{};
  if (::fstat(file.fd(), &info) != 0) refuse_errno(path, "its owner");
  const std::string source = io::file_system_of(path, info.st_dev).source;
  const auto for_us = [&](bool is_ours) { return is_ours ? need_bytes : need_bytes + run_bytes; };
  const std::array owners{QuotaOwner{USRQUOTA, ::geteuid(), "user", for_us(::geteuid() == info.st_uid)},
                          QuotaOwner{USRQUOTA, info.st_uid, "user", need_bytes},
                          QuotaOwner{GRPQUOTA, ::getegid(), "group", for_us(::getegid() == info.st_gid)},
                          QuotaOwner{GRPQUOTA, info.st_gid, "group", need_bytes}};
  for (const QuotaOwner& owner : owners) check_one_quota(path, source, owner);
  check_project_quota(file, path, source, need_bytes, run_bytes);
}

}  // namespace ecosort::demsort_inplace
