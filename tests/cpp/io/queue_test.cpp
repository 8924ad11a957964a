// One suite for every backend: they differ in nothing a caller can see but their name.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/uio.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <thread>

#include "cpp/io/test_support.h"
#include "cpp/support/test_environment.h"
#include "doubles/memory_store.h"
#include "io/backends.h"
#include "io/posix_storage.h"

namespace ecosort::io {

namespace {

using ::testing::IsEmpty;

constexpr unsigned depth = 32;
constexpr std::size_t block = 4096;

// A backend, and where its files come from.
struct Bench {
  TempDirectory directory;
  std::string home = directory.path();  // in the storage
  std::unique_ptr<NamedStorage> storage = std::make_unique<PosixStorage>();
  std::unique_ptr<Queue> queue;

  FilePtr create(Caching caching) { return storage->create_unnamed(home, Role::run, caching); }
};

struct Backing {
  const char* name;
  std::function<void(Bench&)> set_up;
};

Backing real_backing(const char* name, BackendChoice choice) {
  return {name, [choice](Bench& bench) { bench.queue = make_queue(choice, depth).queue; }};
}

Backing at_once() {
  return {"pool_at_once", [](Bench& bench) { bench.queue = make_queue_for_small_input(depth).queue; }};
}

std::vector<Backing> real_backings() {
  std::vector<Backing> all{real_backing("uring", BackendChoice::uring), real_backing("pool", BackendChoice::pool)};
#ifdef ECOSORT_HAVE_STXXL
  all.push_back(real_backing("stxxl", BackendChoice::stxxl));
#endif
  all.push_back(at_once());
  return all;
}

std::vector<Backing> all_backings() {
  std::vector<Backing> all = real_backings();
  all.push_back({"memory", [](Bench& bench) {
                   auto store = std::make_unique<MemoryStore>();
                   bench.queue = store->make_queue(depth);
                   bench.storage = std::move(store);
                   bench.home = "/";
                 }});
  return all;
}

std::chrono::nanoseconds cpu_time_of_this_process() {
  struct timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

}  // namespace

class QueueTest : public ::testing::TestWithParam<Backing> {
 protected:
  void SetUp() override {
    try {
      GetParam().set_up(bench);
    } catch (const UsageError& refused) {
      if (is_strict()) FAIL() << refused.what();
      GTEST_SKIP() << refused.what();
    }
  }

  void submit(const File& file, Operation operation, std::uint64_t offset, std::size_t size, std::byte* data,
              std::uint64_t tag = 0) {
    bench.queue->submit({operation, &file, offset, size, data, tag});
  }

  // Completions by tag, until there are `count`.
  std::map<std::uint64_t, std::int64_t> wait_for(std::size_t count) {
    std::vector<Completion> out;
    while (out.size() < count) bench.queue->wait(out, true);
    std::map<std::uint64_t, std::int64_t> results;
    for (const Completion& completion : out) results[completion.tag] = completion.result;
    EXPECT_EQ(results.size(), count) << "a tag came back twice";
    return results;
  }

  std::int64_t perform(const File& file, Operation operation, std::uint64_t offset, std::size_t size, std::byte* data = nullptr) {
    submit(file, operation, offset, size, data, 77);
    return wait_for(1).at(77);
  }

  void fill(const File& file, const std::string& text) {
    const AlignedBuffer buffer(text);
    ASSERT_EQ(perform(file, Operation::write, 0, text.size(), buffer.data()), static_cast<std::int64_t>(text.size()));
  }

  Bench bench;
};

// Only real backends have streams and devices.
class StreamQueueTest : public QueueTest {
 protected:
  void SetUp() override {
    QueueTest::SetUp();
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    read_end = Descriptor(ends[0]);
    write_end = Descriptor(ends[1]);
  }

  static File stream(int fd, Role role) {
    return {::fcntl(fd, F_DUPFD_CLOEXEC, 3), {.role = role, .path = "(pipe)", .is_stream = true}};
  }

  Descriptor read_end, write_end;
};

constexpr auto name_of = [](const auto& parameter) { return std::string(parameter.param.name); };
INSTANTIATE_TEST_SUITE_P(Backends, QueueTest, ::testing::ValuesIn(all_backings()), name_of);
INSTANTIATE_TEST_SUITE_P(Backends, StreamQueueTest, ::testing::ValuesIn(real_backings()), name_of);

class AtOnceStreamQueueTest : public StreamQueueTest {};
INSTANTIATE_TEST_SUITE_P(Backends, AtOnceStreamQueueTest, ::testing::Values(at_once()), name_of);

TEST_P(QueueTest, SaysWhichBackendServes) {
  const std::string_view name = bench.queue->backend_name();
  EXPECT_TRUE(std::string_view(GetParam().name).starts_with(name)) << name;
}

TEST_P(QueueTest, WhatIsWrittenIsReadBackDirectAndBuffered) {
  for (const Caching caching : {Caching::direct_if_possible, Caching::buffered}) {
    const FilePtr file = bench.create(caching);
    const std::string text = pattern(10 * block);
    fill(*file, text);
    const AlignedBuffer back(3 * block);
    EXPECT_EQ(perform(*file, Operation::read, 2 * block, back.size(), back.data()), static_cast<std::int64_t>(back.size()));
    EXPECT_EQ(back.text(back.size()), text.substr(2 * block, 3 * block));
  }
}

TEST_P(QueueTest, BufferedFilesTakeAnyOffsetSizeAndAddress) {
  const FilePtr file = bench.create(Caching::buffered);
  const std::string text = pattern(1000);
  const AlignedBuffer buffer(block);
  text.copy(reinterpret_cast<char*>(buffer.data()) + 3, text.size());
  EXPECT_EQ(perform(*file, Operation::write, 77, text.size(), buffer.data() + 3), 1000);
  const AlignedBuffer back(block);
  EXPECT_EQ(perform(*file, Operation::read, 78, 20, back.data() + 1), 20);
  EXPECT_EQ(back.text(21).substr(1), text.substr(1, 20));
}

TEST_P(QueueTest, ReadsAtTheEndAreShortAndBehindItEmpty) {
  for (const Caching caching : {Caching::direct_if_possible, Caching::buffered}) {
    const FilePtr file = bench.create(caching);
    const std::string text = pattern(2 * block);
    fill(*file, text);
    bench.storage->set_size(*file, block + 100);
    const AlignedBuffer back(2 * block);
    EXPECT_EQ(perform(*file, Operation::read, 0, back.size(), back.data()), static_cast<std::int64_t>(block) + 100);
    EXPECT_EQ(back.text(block + 100), text.substr(0, block + 100));
    EXPECT_EQ(perform(*file, Operation::read, block, block, back.data()), 100);
    EXPECT_EQ(perform(*file, Operation::read, 2 * block, block, back.data()), 0);
    EXPECT_EQ(perform(*file, Operation::read, 100 * block, block, back.data()), 0);
  }
}

TEST_P(QueueTest, ManyRequestsInFlightAllComplete) {
  const FilePtr file = bench.create(Caching::direct_if_possible);
  const std::string text = pattern(depth * block);
  const AlignedBuffer source(text), target(text.size());
  for (int round = 0; round < 8; ++round) {
    for (unsigned i = 0; i < depth; ++i) submit(*file, Operation::write, i * block, block, source.data() + i * block, i);
    for (const auto& [tag, result] : wait_for(depth)) EXPECT_EQ(result, static_cast<std::int64_t>(block)) << tag;
    std::memset(target.data(), 0, target.size());
    for (unsigned i = depth; i-- > 0;) submit(*file, Operation::read, i * block, block, target.data() + i * block, i);
    for (const auto& [tag, result] : wait_for(depth)) EXPECT_EQ(result, static_cast<std::int64_t>(block)) << tag;
    EXPECT_EQ(target.text(target.size()), text);
  }
}

TEST_P(QueueTest, ManyFilesComeAndGo) {
  const std::string text = pattern(block);
  const AlignedBuffer source(text), target(block);
  for (int i = 0; i < 100; ++i) {
    const FilePtr file = bench.create(i % 2 == 0 ? Caching::direct_if_possible : Caching::buffered);
    ASSERT_EQ(perform(*file, Operation::write, 0, block, source.data()), static_cast<std::int64_t>(block));
    ASSERT_EQ(perform(*file, Operation::read, 0, block, target.data()), static_cast<std::int64_t>(block));
    ASSERT_EQ(target.text(block), text);
  }
}

TEST_P(QueueTest, EqualTagsComeBackAsOftenAsTheyWereGiven) {
  const FilePtr file = bench.create(Caching::buffered);
  fill(*file, pattern(2 * block));
  const AlignedBuffer target(2 * block);
  submit(*file, Operation::read, 0, block, target.data(), ~std::uint64_t{0});
  submit(*file, Operation::read, block, block, target.data() + block, ~std::uint64_t{0});
  std::vector<Completion> out;
  while (out.size() < 2) bench.queue->wait(out, true);
  EXPECT_EQ(out[0].tag, ~std::uint64_t{0});
  EXPECT_EQ(out[1].tag, ~std::uint64_t{0});
}

TEST_P(QueueTest, MoreInFlightThanTheDepthIsABug) {
  const FilePtr file = bench.create(Caching::buffered);
  fill(*file, pattern(depth * block));
  const AlignedBuffer target(depth * block);
  for (unsigned i = 0; i < depth; ++i) submit(*file, Operation::read, i * block, block, target.data() + i * block, i);
  EXPECT_THROW(submit(*file, Operation::sync, 0, 0, nullptr), InternalError);
  EXPECT_EQ(wait_for(depth).size(), depth);
}

TEST_P(QueueTest, SyncSucceeds) {
  const FilePtr file = bench.create(Caching::direct_if_possible);
  fill(*file, pattern(block));
  EXPECT_EQ(perform(*file, Operation::sync, 0, 0), 0);
}

TEST_P(QueueTest, ReleasedSpaceIsGivenBackAndReadsAsZeros) {
  const FilePtr file = bench.create(Caching::direct_if_possible);
  const std::string text = pattern(64 * block);
  fill(*file, text);
  ASSERT_EQ(perform(*file, Operation::sync, 0, 0), 0);
  const std::uint64_t before = bench.storage->state(*file).allocated_bytes;
  ASSERT_EQ(perform(*file, Operation::release, 16 * block, 32 * block), 0);
  const FileState after = bench.storage->state(*file);
  EXPECT_LE(after.allocated_bytes + 32 * block, before);
  EXPECT_EQ(after.size_bytes, text.size());
  const AlignedBuffer back(text.size());
  ASSERT_EQ(perform(*file, Operation::read, 0, back.size(), back.data()), static_cast<std::int64_t>(back.size()));
  EXPECT_EQ(back.text(back.size()), text.substr(0, 16 * block) + std::string(32 * block, '\0') + text.substr(48 * block));
}

TEST_P(QueueTest, ReservedSpaceIsAllocatedAndExtendsTheFile) {
  const FilePtr file = bench.create(Caching::direct_if_possible);
  ASSERT_EQ(perform(*file, Operation::reserve, 0, 256 * block), 0);
  const FileState state = bench.storage->state(*file);
  EXPECT_EQ(state.size_bytes, 256 * block);
  EXPECT_GE(state.allocated_bytes, 256 * block);
}

TEST_P(QueueTest, ErrorsComeBackAsNegativeNumbers) {
  const File closed(-1, {.role = Role::run, .path = "closed"});
  const AlignedBuffer buffer(block);
  for (const Operation operation : {Operation::read, Operation::write, Operation::sync, Operation::release, Operation::reserve})
    EXPECT_EQ(perform(closed, operation, 0, block, buffer.data()), -EBADF) << to_string(operation);
}

TEST_P(QueueTest, WritingAReadOnlyFileIsRefused) {
  const std::string path = bench.home + "/in";
  fill(*bench.storage->create_named(path, Role::run, Caching::buffered), pattern(block));
  const FilePtr file = bench.storage->open_input(path, Caching::direct_if_possible);
  const AlignedBuffer buffer(pattern(block, 2));
  EXPECT_EQ(perform(*file, Operation::write, 0, block, buffer.data()), -EBADF);
  EXPECT_EQ(perform(*file, Operation::read, 0, block, buffer.data()), static_cast<std::int64_t>(block));
  EXPECT_EQ(buffer.text(block), pattern(block));
}

TEST_P(StreamQueueTest, AFullDeviceIsReported) {
  const File full(::open("/dev/full", O_RDWR | O_CLOEXEC), {.role = Role::output, .path = "/dev/full"});
  const AlignedBuffer buffer(pattern(block));
  EXPECT_EQ(perform(full, Operation::write, 0, block, buffer.data()), -ENOSPC);
}

namespace {

// No file of this process grows beyond a size, as on a drive that is full from there on; a write beyond it is an error.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    signal_before_ = std::signal(SIGXFSZ, SIG_IGN);
    set({bytes, before_.rlim_max});
  }
  ~SizeLimit() {
    set(before_);
    std::signal(SIGXFSZ, signal_before_);
  }
  SizeLimit(const SizeLimit&) = delete;
  SizeLimit& operator=(const SizeLimit&) = delete;

 private:
  static void set(const rlimit& limit) {
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) throw std::runtime_error("the file size cannot be limited");
  }
  rlimit before_{};
  void (*signal_before_)(int);
};

}  // namespace

// Told as a short count, its rest would be written behind its successor once there is room again.
TEST_P(StreamQueueTest, AWriteThatFailsAfterAPartFailsWithEverythingBehindIt) {
  const std::string path = bench.directory / "out";
  const Descriptor out(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  const File file = stream(out.get(), Role::output);
  constexpr std::size_t size = 60'000, room = 100'000, writes = 5;
  const std::string text = pattern(writes * size);
  const AlignedBuffer source(text);
  std::map<std::uint64_t, std::int64_t> results;
  {
    const SizeLimit limit(room);
    for (std::size_t i = 0; i < writes; ++i) submit(file, Operation::write, 0, size, source.data() + i * size, i);
    results = wait_for(writes);
  }
  EXPECT_EQ(results.at(0), static_cast<std::int64_t>(size));
  for (std::size_t i = 1; i < writes; ++i) EXPECT_EQ(results.at(i), -EFBIG) << i;
  EXPECT_EQ(read_file(path), text.substr(0, room));
}

// Nor may a write go first that was submitted after the failure, but before anybody could know of it.
TEST_P(StreamQueueTest, AWriteSubmittedBeforeTheFailureIsKnownFailsToo) {
  const std::string path = bench.directory / "out";
  const Descriptor out(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  const File file = stream(out.get(), Role::output);
  const AlignedBuffer source(pattern(2 * block));
  {
    const SizeLimit limit(block + 10);
    submit(file, Operation::write, 0, 2 * block, source.data(), 1);
    std::this_thread::sleep_for(milliseconds(100));  // threads have failed by now
  }
  submit(file, Operation::write, 0, 5, source.data(), 2);
  std::map<std::uint64_t, std::int64_t> results = wait_for(2);
  if (results.at(1) < 0) {  // else the system began only when it was asked for the completion: there was room
    EXPECT_EQ(results.at(2), -EFBIG);
    EXPECT_EQ(read_file(path).size(), block + 10);
  }
}

// There is room again by the time the next write is submitted: the stream continues then, as a shell's next command would.
TEST_P(StreamQueueTest, AStreamThatHasRoomAgainTakesLaterWrites) {
  const std::string path = bench.directory / "out";
  const Descriptor out(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  const File file = stream(out.get(), Role::output);
  const AlignedBuffer source(pattern(2 * block));
  {
    const SizeLimit limit(block + 10);
    EXPECT_EQ(perform(file, Operation::write, 0, 2 * block, source.data()), -EFBIG);
  }
  EXPECT_EQ(perform(file, Operation::write, 0, 5, source.data()), 5);
  EXPECT_EQ(read_file(path).size(), block + 15);
}

TEST_P(QueueTest, AWaitThatDoesNotBlockReturnsAtOnce) {
  std::vector<Completion> out;
  bench.queue->wait(out, false);
  EXPECT_THAT(out, IsEmpty());
}

TEST_P(QueueTest, CompletionsAreAppended) {
  const FilePtr file = bench.create(Caching::buffered);
  submit(*file, Operation::sync, 0, 0, nullptr, 5);
  std::vector<Completion> out{{1, 2}};
  bench.queue->wait(out, true);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].tag, 1u);
  EXPECT_EQ(out[1].tag, 5u);
}

TEST_P(QueueTest, PollingWithoutBlockingFindsTheCompletion) {
  const FilePtr file = bench.create(Caching::direct_if_possible);
  const AlignedBuffer buffer(pattern(block));
  submit(*file, Operation::write, 0, block, buffer.data(), 3);
  std::vector<Completion> out;
  const auto deadline = Clock::now() + std::chrono::seconds(10);
  while (out.empty() && Clock::now() < deadline) {
    bench.queue->wait(out, false);
    std::this_thread::sleep_for(milliseconds(1));
  }
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].result, static_cast<std::int64_t>(block));
}

TEST_P(QueueTest, ANotificationEndsTheNextWaitAndOnlyThat) {
  bench.queue->notify();
  bench.queue->notify();
  std::vector<Completion> out;
  bench.queue->wait(out, true);
  EXPECT_THAT(out, IsEmpty());
  const auto begin = Clock::now();
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(50));
    bench.queue->notify();
  });
  bench.queue->wait(out, true);
  later.join();
  EXPECT_GE(Clock::now() - begin, milliseconds(45));
}

TEST_P(QueueTest, SleepingCostsNoProcessorTime) {
  const FilePtr file = bench.create(Caching::direct_if_possible);
  fill(*file, pattern(block));  // all threads have been at work
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(300));
    bench.queue->notify();
  });
  const auto begin = Clock::now();
  const auto cpu_before = cpu_time_of_this_process();
  std::vector<Completion> out;
  bench.queue->wait(out, true);
  const auto cpu = cpu_time_of_this_process() - cpu_before;
  later.join();
  EXPECT_GE(Clock::now() - begin, milliseconds(250));
  EXPECT_LT(cpu, milliseconds(30));
}

namespace {

std::atomic<Queue*> notified_by_signal{nullptr};
std::atomic<int> signals_seen{0};

void on_alarm(int) {
  ++signals_seen;
  if (Queue* queue = notified_by_signal.load()) queue->notify();
}

// SIGALRM every 10 ms for a scope.
class Alarms {
 public:
  Alarms() {
    signals_seen = 0;
    struct sigaction action{};
    action.sa_handler = on_alarm;
    ::sigaction(SIGALRM, &action, &before_);
    const itimerval often{{0, 10'000}, {0, 10'000}};
    ::setitimer(ITIMER_REAL, &often, nullptr);
  }
  ~Alarms() {
    const itimerval never{};
    ::setitimer(ITIMER_REAL, &never, nullptr);
    ::sigaction(SIGALRM, &before_, nullptr);
  }

 private:
  struct sigaction before_{};
};

}  // namespace

TEST_P(QueueTest, ASignalHandlerCanNotify) {
  notified_by_signal = bench.queue.get();
  std::vector<Completion> out;
  {
    const Alarms alarms;
    bench.queue->wait(out, true);
  }
  notified_by_signal = nullptr;
  EXPECT_GE(signals_seen, 1);
  EXPECT_THAT(out, IsEmpty());
}

TEST_P(QueueTest, SignalsAloneDoNotEndAWait) {
  notified_by_signal = nullptr;
  std::thread later([&] {
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    ::pthread_sigmask(SIG_BLOCK, &alarm, nullptr);
    std::this_thread::sleep_for(milliseconds(150));
    bench.queue->notify();
  });
  const auto begin = Clock::now();
  std::vector<Completion> out;
  {
    const Alarms alarms;
    bench.queue->wait(out, true);
  }
  later.join();
  EXPECT_GE(Clock::now() - begin, milliseconds(140));
  EXPECT_GE(signals_seen, 3);
}

TEST_P(StreamQueueTest, ReadsOfAPipeAreServedInOrder) {
  const File file = stream(read_end.get(), Role::input);
  constexpr std::size_t reads = 10;
  const std::string text = pattern(reads * 1000);
  const AlignedBuffer target(text.size());
  for (std::size_t i = 0; i < reads; ++i) submit(file, Operation::read, 0, 1000, target.data() + i * 1000, i);
  std::thread writer([&] {
    for (std::size_t i = 0; i < reads; ++i) {
      ASSERT_EQ(::write(write_end.get(), text.data() + i * 1000, 1000), 1000);
      std::this_thread::sleep_for(milliseconds(2));
    }
  });
  const auto results = wait_for(reads);
  writer.join();
  std::string got;
  for (const auto& [tag, result] : results) got += target.text(text.size()).substr(tag * 1000, static_cast<std::size_t>(result));
  EXPECT_EQ(got, text.substr(0, got.size()));
  EXPECT_GE(got.size(), reads * 500);
}

TEST_P(StreamQueueTest, WritesToAPipeKeepTheirOrderWhateverFits) {
  const File file = stream(write_end.get(), Role::output);
  constexpr std::size_t size = 150'000;  // more than a pipe holds
  constexpr std::size_t writes = 6;
  const std::string text = pattern(writes * size);
  const AlignedBuffer source(text);
  for (std::size_t i = 0; i < writes; ++i) submit(file, Operation::write, 0, size, source.data() + i * size, i);
  std::string got;
  std::thread reader([&] {
    std::vector<char> some(7000);
    while (got.size() < text.size()) {
      const ssize_t read = ::read(read_end.get(), some.data(), some.size());
      ASSERT_GT(read, 0);
      got.append(some.data(), static_cast<std::size_t>(read));
    }
  });
  for (const auto& [tag, result] : wait_for(writes)) EXPECT_EQ(result, static_cast<std::int64_t>(size)) << tag;
  reader.join();
  EXPECT_TRUE(got == text);
}

TEST_P(AtOnceStreamQueueTest, IsDoneWithWhatFitsIntoAPipeWhenSubmitReturns) {
  char byte = 'x';
  const iovec one{&byte, 1};
  if (::pwritev2(write_end.get(), &one, 1, -1, RWF_NOWAIT) < 0) GTEST_SKIP() << "pipes of this kernel cannot be asked to";
  const File file = stream(write_end.get(), Role::output);
  const AlignedBuffer source(pattern(block));
  submit(file, Operation::write, 0, block, source.data(), 5);
  std::vector<Completion> out;
  bench.queue->wait(out, false);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out.front().result, static_cast<std::int64_t>(block));
}

TEST_P(StreamQueueTest, AStreamThatSomebodyMadeNonBlockingIsAwaitedAllTheSame) {
  ASSERT_EQ(::fcntl(read_end.get(), F_SETFL, O_NONBLOCK), 0);
  const File file = stream(read_end.get(), Role::input);
  const AlignedBuffer target(100);
  submit(file, Operation::read, 0, 100, target.data(), 1);
  std::thread writer([&] {
    std::this_thread::sleep_for(milliseconds(100));
    ASSERT_EQ(::write(write_end.get(), "late", 4), 4);
  });
  const auto cpu_before = cpu_time_of_this_process();
  EXPECT_EQ(wait_for(1).at(1), 4);
  EXPECT_LT(cpu_time_of_this_process() - cpu_before, milliseconds(30));
  writer.join();
}

TEST_P(StreamQueueTest, TheEndOfAPipeIsAnEmptyRead) {
  const File file = stream(read_end.get(), Role::input);
  ASSERT_EQ(::write(write_end.get(), "tail", 4), 4);
  write_end = Descriptor();
  const AlignedBuffer target(100);
  EXPECT_EQ(perform(file, Operation::read, 0, 100, target.data()), 4);
  EXPECT_EQ(perform(file, Operation::read, 0, 100, target.data()), 0);
}

TEST_P(StreamQueueTest, FilesGoOnWhileAPipeIsSilent) {
  const File file = stream(read_end.get(), Role::input);
  const AlignedBuffer target(100);
  submit(file, Operation::read, 0, 100, target.data(), 1);
  const FilePtr run = bench.create(Caching::direct_if_possible);
  const AlignedBuffer source(pattern(block));
  submit(*run, Operation::write, 0, block, source.data(), 2);
  EXPECT_EQ(wait_for(1).begin()->first, 2u);
  ASSERT_EQ(::write(write_end.get(), "x", 1), 1);
  EXPECT_EQ(wait_for(1).at(1), 1);
}

TEST_P(StreamQueueTest, CancelledReadsOfASilentPipeEnd) {
  const File file = stream(read_end.get(), Role::input);
  const AlignedBuffer target(300);
  for (std::size_t i = 0; i < 3; ++i) submit(file, Operation::read, 0, 100, target.data() + i * 100, i);
  std::vector<Completion> none;
  bench.queue->wait(none, false);
  EXPECT_THAT(none, IsEmpty());
  bench.queue->cancel_streams();
  for (const auto& [tag, result] : wait_for(3)) EXPECT_TRUE(result == -ECANCELED || result == -EINTR) << result;
  submit(file, Operation::read, 0, 100, target.data(), 9);
  EXPECT_EQ(wait_for(1).at(9), -ECANCELED);
}

TEST_P(StreamQueueTest, CancelledWritesToAFullPipeEnd) {
  const File file = stream(write_end.get(), Role::output);
  const AlignedBuffer source(pattern(1'000'000));
  submit(file, Operation::write, 0, source.size(), source.data(), 1);
  submit(file, Operation::write, 0, source.size(), source.data(), 2);
  std::this_thread::sleep_for(milliseconds(20));
  std::vector<Completion> none;
  bench.queue->wait(none, false);
  EXPECT_THAT(none, IsEmpty());
  bench.queue->cancel_streams();
  const auto results = wait_for(2);
  EXPECT_LT(results.at(1), 1'000'000);
  EXPECT_EQ(results.at(2), -ECANCELED);
}

TEST_P(StreamQueueTest, StandardOutputIntoAFileIsWrittenAtItsPosition) {
  const std::string path = bench.directory / "log";
  write_file(path, "before ");
  const Descriptor log(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  const File file = stream(log.get(), Role::output);
  const AlignedBuffer source(std::string("after"));
  EXPECT_EQ(perform(file, Operation::write, 0, 5, source.data()), 5);
  EXPECT_EQ(read_file(path), "before after");
}

}  // namespace ecosort::io
