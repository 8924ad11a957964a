#include "io/backends.h"

#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cpp/io/test_support.h"
#include "io/posix_storage.h"

namespace ecosort::io {

namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t block = 4096;

// The sandbox acts like a container: from here on this process gets `error_number` instead of an io_uring.
void refuse_io_uring(int error_number) {
  const unsigned refuse = SECCOMP_RET_ERRNO | static_cast<unsigned>(error_number);
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, refuse),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) ::_exit(99);
}

// Writes and reads a block; the process ends with 0 if that worked and `text` is printed on stderr.
[[noreturn]] void move_a_block_and_exit(Queue& queue, const std::string& text) {
  PosixStorage storage;
  const TempDirectory directory;
  const FilePtr file = storage.create_unnamed(directory.path(), Role::run, Caching::direct_if_possible);
  const AlignedBuffer source(pattern(block)), target(block);
  std::vector<Completion> out;
  queue.submit({Operation::write, file.get(), 0, block, source.data(), 1});
  queue.wait(out, true);
  queue.submit({Operation::read, file.get(), 0, block, target.data(), 2});
  queue.wait(out, true);
  std::fprintf(stderr, "%s: %s\n", queue.backend_name(), text.c_str());
  std::filesystem::remove_all(directory.path());
  ::_exit(target.text(block) == pattern(block) ? 0 : 1);
}

bool can_refuse() { return ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0; }

class BackendsDeathTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("ECOSORT_EMULATOR") != nullptr) GTEST_SKIP() << "a program under an emulator does not start itself anew";
    GTEST_FLAG_SET(death_test_style, "threadsafe");  // each in a fresh process
  }
};

}  // namespace

TEST_F(BackendsDeathTest, WhereIoUringIsRefusedThePoolTakesOverWithOneNotice) {
  if (!can_refuse()) GTEST_SKIP() << "no seccomp here";
  for (const int error_number : {EPERM, ENOSYS, ENOMEM, EINVAL}) {
    EXPECT_EXIT(
        {
          refuse_io_uring(error_number);
          const Backend backend = make_queue(BackendChoice::auto_, 8);
          move_a_block_and_exit(*backend.queue, backend.notice);
        },
        ::testing::ExitedWithCode(0), std::string("pool: io_uring is not available here .") + std::strerror(error_number));
  }
}

TEST_F(BackendsDeathTest, IoUringAskedForByNameAndRefusedTellsTheWayOut) {
  if (!can_refuse()) GTEST_SKIP() << "no seccomp here";
  EXPECT_EXIT(
      {
        refuse_io_uring(EPERM);
        const std::string line = line_of<UsageError>([] { (void)make_queue(BackendChoice::uring, 8); });
        std::fprintf(stderr, "%s\n", line.c_str());
        ::_exit(2);
      },
      ::testing::ExitedWithCode(2), "io_uring is not available here .Operation not permitted.");
}

TEST_F(BackendsDeathTest, APlainUserWithLittleLockableMemoryHasAQueueOfDepth64) {
  EXPECT_EXIT(
      {
        rlimit little{};
        little.rlim_cur = little.rlim_max = 64 << 10;
        ::setrlimit(RLIMIT_MEMLOCK, &little);
        if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(98);
        const Backend backend = make_queue(BackendChoice::auto_, 64);
        move_a_block_and_exit(*backend.queue, "served");
      },
      ::testing::ExitedWithCode(0), ": served");
}

#ifdef ECOSORT_HAVE_STXXL
namespace {

[[noreturn]] void fail_a_request_in_an_empty_directory_and_exit() {
  const TempDirectory work;
  if (::chdir(work.path().c_str()) != 0) ::_exit(97);
  {
    const Backend backend = make_queue(BackendChoice::stxxl, 8);
    const File full(::open("/dev/full", O_RDWR | O_CLOEXEC), {.role = Role::run, .path = "full"});
    const AlignedBuffer buffer(block);
    std::vector<Completion> out;
    backend.queue->submit({Operation::write, &full, 0, block, buffer.data(), 1});
    backend.queue->wait(out, true);
    if (out.at(0).result != -ENOSPC) ::_exit(96);
  }
  const bool is_empty = work.names().empty();
  std::filesystem::remove_all(work.path());
  std::exit(is_empty ? 0 : 95);  // runs the exit handlers of STXXL, too
}

}  // namespace

TEST_F(BackendsDeathTest, StxxlWritesNoFilesIntoTheWorkingDirectoryAndNothingOnTheTerminal) {
  EXPECT_EXIT(fail_a_request_in_an_empty_directory_and_exit(), ::testing::ExitedWithCode(0), "^$");
}
#endif

TEST(Backends, AutomaticChoiceSaysNothingWhereIoUringWorks) {
  const Backend backend = make_queue(BackendChoice::auto_, 4);
  if (std::string(backend.queue->backend_name()) != "uring") GTEST_SKIP() << backend.notice;
  EXPECT_THAT(backend.notice, IsEmpty());
}

TEST(Backends, NamesAreParsedAndUnknownOnesRefused) {
  EXPECT_EQ(parse_backend("auto"), BackendChoice::auto_);
  EXPECT_EQ(parse_backend("uring"), BackendChoice::uring);
  EXPECT_EQ(parse_backend("pool"), BackendChoice::pool);
  EXPECT_EQ(parse_backend("stxxl"), BackendChoice::stxxl);
  EXPECT_THAT(line_of<UsageError>([] { (void)parse_backend("aio"); }), HasSubstr("'aio' (auto, uring, pool or stxxl)"));
}

}  // namespace ecosort::io
