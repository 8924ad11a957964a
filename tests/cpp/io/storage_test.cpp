#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "cpp/io/test_support.h"
#include "io/direct_io.h"
#include "io/posix_storage.h"
#include "io/temporary_name.h"

namespace ecosort::io {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* memory_directory = "/dev/shm";

void write_all(const File& file, const std::string& text) {
  const AlignedBuffer buffer(text);
  ASSERT_EQ(::pwrite(file.fd(), buffer.data(), buffer.size(), 0), static_cast<ssize_t>(text.size()));
}

struct stat status_of(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status;
}

// An access ACL that also lets user 1234 read: owner rw, that user r, group r, mask rw, others nothing.
std::string some_acl() {
  const auto entry = [](unsigned tag, unsigned bits, unsigned id) {
    std::string text(8, '\0');
    text[0] = static_cast<char>(tag);
    text[2] = static_cast<char>(bits);
    std::memcpy(text.data() + 4, &id, sizeof id);
    return text;
  };
  constexpr unsigned no_one = ~0u;
  return std::string("\2\0\0\0", 4) + entry(1, 6, no_one) + entry(2, 4, 1234) + entry(4, 4, no_one) + entry(0x10, 6, no_one) +
         entry(0x20, 0, no_one);
}

std::string attribute_of(const std::string& path, const char* name) {
  std::string value(256, '\0');
  const ssize_t size = ::getxattr(path.c_str(), name, value.data(), value.size());
  if (size < 0) return std::strerror(errno);
  value.resize(static_cast<std::size_t>(size));
  return value;
}

}  // namespace

// Both ways to make an output: without a name, and under a temporary one where the file system cannot do that.
class StorageTest : public ::testing::TestWithParam<PosixStorage::Unnamed> {
 protected:
  PosixStorage storage{GetParam()};
  TempDirectory directory;

  FilePtr output(const std::string& text) {
    FilePtr file = storage.create_unnamed(directory.path(), Role::output, Caching::buffered);
    write_all(*file, text);
    storage.sync(*file);
    return file;
  }
};

INSTANTIATE_TEST_SUITE_P(Naming, StorageTest, ::testing::Values(PosixStorage::Unnamed::if_possible, PosixStorage::Unnamed::never),
                         [](const auto& parameter) {
                           return parameter.param == PosixStorage::Unnamed::never ? "TemporaryName" : "NoName";
                         });

TEST_P(StorageTest, APublishedOutputStandsUnderItsNameWithTheModeOfANewFile) {
  const mode_t mask = ::umask(027);
  FilePtr file = output("sorted");
  EXPECT_EQ(storage.publish(*file, directory / "out"), "");
  storage.close(std::move(file));
  ::umask(mask);
  EXPECT_EQ(read_file(directory / "out"), "sorted");
  EXPECT_EQ(status_of(directory / "out").st_mode & 07777u, 0640u);
  EXPECT_THAT(directory.names(), ElementsAre("out"));
}

TEST_P(StorageTest, AnOutputIsPrivateUntilItIsPublished) {
  const FilePtr file = output("x");
  struct stat status{};
  ASSERT_EQ(::fstat(file->fd(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777u, 0600u);
}

TEST_P(StorageTest, ReplacingKeepsOwnerModeAclAndAttributes) {
  write_file(directory / "out", "old");
  ASSERT_EQ(::chmod((directory / "out").c_str(), 0751), 0);
  ASSERT_EQ(::setxattr((directory / "out").c_str(), "user.origin", "lab", 3, 0), 0);
  ASSERT_EQ(::setxattr((directory / "out").c_str(), "system.posix_acl_access", some_acl().data(), some_acl().size(), 0), 0);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown((directory / "out").c_str(), 1234, 2345), 0);
  }
  const struct stat before = status_of(directory / "out");

  FilePtr file = output("new");
  EXPECT_EQ(storage.publish(*file, directory / "out"), "");
  storage.close(std::move(file));
  const struct stat after = status_of(directory / "out");
  EXPECT_EQ(read_file(directory / "out"), "new");
  EXPECT_EQ(after.st_mode, before.st_mode);
  EXPECT_EQ(after.st_uid, before.st_uid);
  EXPECT_EQ(after.st_gid, before.st_gid);
  EXPECT_EQ(attribute_of(directory / "out", "user.origin"), "lab");
  EXPECT_EQ(attribute_of(directory / "out", "system.posix_acl_access"), some_acl());
  EXPECT_THAT(directory.names(), ElementsAre("out"));
}

TEST_P(StorageTest, ReplacingInADirectoryWithADefaultAclKeepsTheFilesPlainMode) {
  write_file(directory / "out", "old");
  ASSERT_EQ(::chmod((directory / "out").c_str(), 0640), 0);
  ASSERT_EQ(::setxattr(directory.path().c_str(), "system.posix_acl_default", some_acl().data(), some_acl().size(), 0), 0);
  FilePtr file = output("new");
  EXPECT_EQ(storage.publish(*file, directory / "out"), "");
  EXPECT_EQ(status_of(directory / "out").st_mode & 07777u, 0640u);
  EXPECT_EQ(attribute_of(directory / "out", "system.posix_acl_access"), std::strerror(ENODATA));
}

TEST_P(StorageTest, ANewOutputHasTheRightsAnOrdinaryNewFileHasUnderADefaultAcl) {
  ASSERT_EQ(::setxattr(directory.path().c_str(), "system.posix_acl_default", some_acl().data(), some_acl().size(), 0), 0);
  write_file(directory / "ordinary", "");
  FilePtr file = output("new");
  EXPECT_EQ(storage.publish(*file, directory / "out"), "");
  EXPECT_EQ(status_of(directory / "out").st_mode, status_of(directory / "ordinary").st_mode);
  EXPECT_EQ(attribute_of(directory / "out", "system.posix_acl_access"),
            attribute_of(directory / "ordinary", "system.posix_acl_access"));
}

TEST_P(StorageTest, AnOwnerThatCannotBeKeptIsToldAndTakesNoRightsAlong) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to have a file of somebody else";
  write_file(directory / "out", "old");
  ASSERT_EQ(::chown((directory / "out").c_str(), 1, 1), 0);
  ASSERT_EQ(::chmod((directory / "out").c_str(), 04764), 0);
  ASSERT_EQ(::chmod(directory.path().c_str(), 0777), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(10);
    try {
      FilePtr file = output("new");
      const std::string notice = storage.publish(*file, directory / "out");
      const bool told = notice.find("the owner (Operation not permitted)") != std::string::npos;
      ::_exit(told && (status_of(directory / "out").st_mode & 07777u) == 0744u ? 0 : 11);
    } catch (...) {
      ::_exit(12);
    }
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
}

TEST_P(StorageTest, ASymbolicLinkStaysAndItsTargetIsReplaced) {
  ASSERT_EQ(::mkdir((directory / "far").c_str(), 0700), 0);
  write_file(directory / "far/data", "old");
  ASSERT_EQ(::symlink("far/data", (directory / "link").c_str()), 0);
  ASSERT_EQ(::symlink("link", (directory / "out").c_str()), 0);
  EXPECT_EQ(resolve_output(directory / "out").directory, directory / "far");
  FilePtr file = storage.create_unnamed(directory / "far", Role::output, Caching::buffered);
  write_all(*file, "new");
  EXPECT_EQ(storage.publish(*file, directory / "out"), "");
  EXPECT_EQ(read_file(directory / "far/data"), "new");
  EXPECT_EQ(std::filesystem::read_symlink(directory / "out"), "link");
}

TEST_P(StorageTest, ALinkToNothingMakesItsTarget) {
  ASSERT_EQ(::symlink("missing", (directory / "out").c_str()), 0);
  FilePtr file = output("new");
  EXPECT_EQ(storage.publish(*file, directory / "out"), "");
  EXPECT_EQ(read_file(directory / "missing"), "new");
}

TEST_P(StorageTest, OnlyARegularFileIsReplacedAndNoneBesideAJob) {
  ASSERT_EQ(::mkfifo((directory / "fifo").c_str(), 0600), 0);
  FilePtr file = output("new");
  EXPECT_THAT(line_of<UsageError>([&] { (void)storage.publish(*file, directory / "fifo"); }), HasSubstr("is not a regular file"));
  EXPECT_THAT(line_of<UsageError>([&] { (void)storage.publish(*file, directory.path()); }), HasSubstr("is a directory"));
  EXPECT_THAT(line_of<UsageError>([&] { (void)storage.publish(*file, directory / "new/"); }), HasSubstr("is a directory"));
  EXPECT_THAT(line_of<UsageError>([&] { (void)storage.publish(*file, "/dev/null"); }), HasSubstr("is not a regular file"));
  std::filesystem::create_directories(directory / "out.ecosort/journal");  // of a job that began meanwhile
  EXPECT_THAT(line_of<UsageError>([&] { (void)storage.publish(*file, directory / "out"); }), HasSubstr("ecosort resume"));
  EXPECT_THAT(line_of<UsageError>([&] { (void)storage.publish_all({{file.get(), directory / "out"}}); }),
              HasSubstr("ecosort resume"));
}

TEST_P(StorageTest, AFailureAtAnyStepBeforeTheRenameLeavesTheOldFileAndNothingElse) {
  for (const PublishStep failing : {PublishStep::attributes, PublishStep::link, PublishStep::rename}) {
    write_file(directory / "out", "old");
    {
      FilePtr file = output("new");
      const auto fail = [&](PublishStep step) {
        if (step == failing) throw IoError::from_call("publish", "out", EIO);
      };
      EXPECT_THROW((void)storage.publish(*file, directory / "out", fail), IoError);
    }
    EXPECT_EQ(read_file(directory / "out"), "old");
    EXPECT_THAT(directory.names(), ElementsAre("out"));
  }
}

TEST_P(StorageTest, ANewOutputWithoutANameTakesItsOwnAtOnceSoThatAKillLeavesNoOtherOne) {
  const bool has_name = GetParam() == PosixStorage::Unnamed::never;
  const FilePtr file = output("new");
  const auto look = [&](PublishStep step) { EXPECT_TRUE(has_name || step != PublishStep::rename); };
  EXPECT_EQ(storage.publish(*file, directory / "out", look), "");
  EXPECT_THAT(directory.names(), ElementsAre("out"));
}

TEST_P(StorageTest, AFailedDirectorySyncTakesANewNameAwayAndTellsAboutAReplacedOne) {
  const auto fail = [](PublishStep step) {
    if (step == PublishStep::sync_directory) throw IoError::from_call("sync the directory", "D", EIO);
  };
  FilePtr file = output("new");
  EXPECT_THAT(line_of<IoError>([&] { (void)storage.publish(*file, directory / "out", fail); }), HasSubstr("'D'"));
  EXPECT_THAT(directory.names(), IsEmpty());

  write_file(directory / "out", "old");
  file = output("new");
  EXPECT_THAT(line_of<IoError>([&] { (void)storage.publish(*file, directory / "out", fail); }),
              HasSubstr("may not survive a power cut"));
  EXPECT_EQ(read_file(directory / "out"), "new");
}

TEST_P(StorageTest, RunsNeverHaveANameAndUnpublishedOutputsLoseTheirs) {
  {
    const FilePtr run = storage.create_unnamed(directory.path(), Role::run, Caching::direct_if_possible);
    EXPECT_THAT(directory.names(), IsEmpty());
    const FilePtr out = output("half");
    const bool has_name = GetParam() == PosixStorage::Unnamed::never;
    EXPECT_EQ(directory.names().size(), has_name ? 1u : 0u);
    EXPECT_EQ(storage.has_unnamed_files(directory.path()), !has_name);
  }
  EXPECT_THAT(directory.names(), IsEmpty());
}

TEST_P(StorageTest, ADirectoryThatCannotBeWrittenIsTheUsersToMend) {
  EXPECT_EQ(line_of<UsageError>([&] { (void)storage.create_unnamed(directory / "no", Role::run, Caching::buffered); }),
            "cannot create a file in '" + directory.path() + "/no': No such file or directory");
}

TEST_P(StorageTest, ReservedSpaceIsAllocatedAndCounted) {
  FilePtr file = storage.create_unnamed(directory.path(), Role::run, Caching::direct_if_possible);
  if (!storage.reserve(*file, 0, 1 << 20)) GTEST_SKIP() << "the temporary directory is on a file system that cannot reserve";
  EXPECT_GE(storage.state(*file).allocated_bytes, 1u << 20);
  EXPECT_EQ(storage.state(*file).size_bytes, 1u << 20);
  storage.set_size(*file, 4096);
  EXPECT_EQ(storage.state(*file).size_bytes, 4096u);
  EXPECT_LT(storage.state(*file).allocated_bytes, 1u << 20);
}

TEST_P(StorageTest, MoreSpaceThanThereIsCannotBeReserved) {
  FilePtr file = storage.create_unnamed(directory.path(), Role::run, Caching::buffered);
  constexpr std::uint64_t too_much = std::uint64_t{1} << 60;  // for any file, too: refused before a drive that others use is full
  if (!storage.reserve(*file, 0, 4096)) GTEST_SKIP() << "the temporary directory is on a file system that cannot reserve";
  EXPECT_THAT(line_of<IoError>([&] { (void)storage.reserve(*file, 0, too_much); }), HasSubstr("cannot reserve space in"));
}

TEST_P(StorageTest, FilesInMemoryAreBuffered) {
  const TempDirectory memory(memory_directory);
  EXPECT_TRUE(is_in_memory(memory.path()));
  const FilePtr file = storage.create_unnamed(memory.path(), Role::run, Caching::direct_if_possible);
  EXPECT_EQ(file->alignment(), 1u);
  EXPECT_EQ(::fcntl(file->fd(), F_GETFL) & O_DIRECT, 0);
}

TEST_P(StorageTest, DirectFilesStateAUnitThatWorks) {
  const FilePtr file = storage.create_unnamed(directory.path(), Role::run, Caching::direct_if_possible);
  if (!file->is_direct()) GTEST_SKIP() << "the temporary directory is on a file system without direct I/O";
  const std::size_t unit = file->alignment();
  EXPECT_GE(unit, 512u);
  EXPECT_EQ(unit & (unit - 1), 0u);
  EXPECT_NE(::fcntl(file->fd(), F_GETFL) & O_DIRECT, 0);
  const AlignedBuffer buffer(4 * unit);
  std::memset(buffer.data(), 7, buffer.size());
  EXPECT_EQ(::pwrite(file->fd(), buffer.data() + unit, unit, static_cast<off_t>(unit)), static_cast<ssize_t>(unit));
  EXPECT_EQ(::pread(file->fd(), buffer.data() + 2 * unit, unit, static_cast<off_t>(unit)), static_cast<ssize_t>(unit));
}

TEST(PosixStorage, InputsTellSizeAndState) {
  PosixStorage storage;
  const TempDirectory directory;
  write_file(directory / "in", pattern(10000));
  const FilePtr file = storage.open_input(directory / "in", Caching::direct_if_possible);
  EXPECT_EQ(file->facts().size_bytes, 10000u);
  EXPECT_FALSE(file->facts().is_stream);
  const FileState before = storage.state(*file);
  EXPECT_EQ(before.size_bytes, 10000u);
  std::ofstream(directory / "in", std::ios::app) << "more";
  const FileState after = storage.state(*file);
  EXPECT_NE(after.size_bytes, before.size_bytes);
  EXPECT_EQ(after.inode, before.inode);
  EXPECT_GE(after.modified_ns, before.modified_ns);
}

TEST(PosixStorage, UnusableInputsAreNamedWithTheReason) {
  PosixStorage storage;
  const TempDirectory directory;
  const auto open = [&](const std::string& path) {
    return line_of<UsageError>([&] { (void)storage.open_input(path, Caching::buffered); });
  };
  EXPECT_EQ(open(directory.path()), "'" + directory.path() + "' is a directory");
  EXPECT_EQ(open(directory / "no"), "cannot open '" + directory.path() + "/no': No such file or directory");
}

TEST(PosixStorage, AFifoIsAStream) {
  PosixStorage storage;
  const TempDirectory directory;
  ASSERT_EQ(::mkfifo((directory / "fifo").c_str(), 0600), 0);
  const Descriptor keep_open(::open((directory / "fifo").c_str(), O_RDWR));
  EXPECT_TRUE(storage.open_input(directory / "fifo", Caching::direct_if_possible)->facts().is_stream);
}

namespace {

// Standard input replaced for a scope.
class StandardInput {
 public:
  explicit StandardInput(int fd) : saved_(::dup(STDIN_FILENO)) { ::dup2(fd, STDIN_FILENO); }
  ~StandardInput() { ::dup2(saved_.get(), STDIN_FILENO); }

 private:
  Descriptor saved_;
};

}  // namespace

TEST(PosixStorage, ARegularStandardInputIsReadFromItsPositionAndLeftAlone) {
  PosixStorage storage;
  const TempDirectory directory;
  write_file(directory / "in", pattern(20000));
  const Descriptor file(::open((directory / "in").c_str(), O_RDONLY));
  ASSERT_EQ(::lseek(file.get(), 100, SEEK_SET), 100);
  const StandardInput redirected(file.get());
  const FilePtr input = storage.open_input("-", Caching::direct_if_possible);
  EXPECT_FALSE(input->facts().is_stream);
  EXPECT_EQ(input->facts().start_offset, 100u);
  EXPECT_EQ(input->facts().size_bytes, 20000u);
  EXPECT_EQ(input->alignment(), 1u) << "reading starts at no multiple of a unit";
  EXPECT_EQ(::fcntl(STDIN_FILENO, F_GETFL) & O_DIRECT, 0) << "the flags of an inherited description are not ours";
}

TEST(PosixStorage, APipeAsStandardInputIsAStream) {
  PosixStorage storage;
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const Descriptor reader(ends[0]), writer(ends[1]);
  const StandardInput redirected(reader.get());
  const FilePtr input = storage.open_input("-", Caching::direct_if_possible);
  EXPECT_TRUE(input->facts().is_stream);
  EXPECT_NE(input->fd(), STDIN_FILENO);
}

TEST(PosixStorage, AFailedCloseIsThrownOnce) {
  PosixStorage storage;
  const TempDirectory directory;
  FilePtr file = storage.create_unnamed(directory.path(), Role::run, Caching::buffered);
  ::close(file->fd());
  EXPECT_THAT(line_of<IoError>([&] { storage.close(std::move(file)); }), HasSubstr("Bad file descriptor"));
}

TEST(PosixStorage, NamedFilesAreMadeOnceFoundAgainMovedAndRemoved) {
  PosixStorage storage;
  const TempDirectory directory;
  storage.make_directory(directory / "job");
  EXPECT_EQ(status_of(directory / "job").st_mode & 07777u, 0700u);
  storage.close(storage.create_named(directory / "job/b", Role::journal, Caching::direct_if_possible));
  EXPECT_THROW((void)storage.create_named(directory / "job/b", Role::journal, Caching::buffered), IoError);
  storage.close(storage.create_named(directory / "job/a", Role::run, Caching::buffered));
  EXPECT_THAT(storage.list(directory / "job"), ElementsAre("a", "b"));
  const FilePtr found = storage.open_named(directory / "job/b", Role::journal, Caching::buffered);
  write_all(*found, "record");
  storage.rename(directory / "job/b", directory / "moved");
  EXPECT_EQ(read_file(directory / "moved"), "record");
  storage.remove(directory / "job/a");
  storage.sync_directory(directory / "job");
  storage.remove_directory(directory / "job");
  EXPECT_FALSE(storage.exists(directory / "job"));
  EXPECT_THROW(storage.remove(directory / "job"), UsageError);
}

TEST(TemporaryName, IsUnpredictableAndRecognisable) {
  const std::string name = fresh_temporary_name();
  EXPECT_TRUE(is_temporary_name(name));
  EXPECT_NE(name, fresh_temporary_name());
  EXPECT_FALSE(is_temporary_name(".ecosort-short.tmp"));
  EXPECT_FALSE(is_temporary_name(".ecosort-ABCDEFGH.tmp")) << "upper case is not ours";
  EXPECT_FALSE(is_temporary_name("notes.tmp"));
}

TEST(TemporaryName, WhatADeadRunLeftIsFoundAndWhatALivingOneHoldsIsNot) {
  PosixStorage storage(PosixStorage::Unnamed::never);
  const TempDirectory directory;
  const std::string left = directory / fresh_temporary_name();
  write_file(left, "half");
  write_file(directory / "other.tmp", "");
  const FilePtr living = storage.create_unnamed(directory.path(), Role::output, Caching::buffered);
  EXPECT_THAT(abandoned_temporaries(directory.path()), ElementsAre(left));
}

// An input is opened again by its name where few files may be open: the file that has it by then need not be the same.
TEST(ReopenedFilesTest, AnInputThatWasReplacedIsNotTakenForTheOneThatWasOpened) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const auto open_already = std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  const rlimit few{.rlim_cur = static_cast<rlim_t>(open_already) + 32, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const TempDirectory directory;
  PosixStorage storage;
  std::vector<FilePtr> files;
  for (int i = 0; i < 100; ++i) {
    const std::string path = directory / std::to_string(i);
    std::ofstream(path) << i;
    files.push_back(storage.open_input(path, Caching::buffered));
  }
  EXPECT_EQ(storage.state(*files[0]).size_bytes, 1U);
  std::filesystem::remove(directory / "1");
  EXPECT_THAT(line_of<IoError>([&] { (void)storage.state(*files[1]); }), HasSubstr("cannot open again"));
  std::filesystem::rename(directory / "3", directory / "2");
  EXPECT_THAT(line_of<IoError>([&] { (void)storage.state(*files[2]); }), HasSubstr("its name leads to another file now"));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace ecosort::io
