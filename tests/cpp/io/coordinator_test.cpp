// The coordinator: tasks, their failure and cancellation, and what the reactor settles above every queue.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <optional>

#include "base/descriptor.h"
#include "base/errors.h"
#include "base/task.h"
#include "cpp/io/test_support.h"
#include "doubles/faulty_queue.h"
#include "doubles/memory_store.h"
#include "engine/compute.h"
#include "io/backends.h"
#include "io/reactor.h"

namespace ecosort::io {

namespace {

constexpr unsigned depth = 16;
constexpr std::size_t unit = 512;

// A reactor on a file of a disk in memory, with faults in between.
class Bench {
 public:
  explicit Bench(const std::string& faults = {}, const std::string& contents = pattern(20 * unit))
      : store(make_image({{"/disk/file", contents}}), {}),
        file(store.open_named("/disk/file", Role::run, Caching::direct_if_possible)),
        below(store.make_queue(2 * depth + 2)),
        plan(parse_faults(faults)),
        queue(*below, plan),
        reactor(queue, depth, depth) {}

  // Runs one task to its end; throws what it threw.
  void run(Task<void> task) {
    TaskGroup group(reactor.scope());
    group.spawn(std::move(task));
    reactor.run(group, interrupted);
  }
  // The error number of the IoError a task ends with; 0 for none.
  int error_of(Task<void> task) {
    try {
      run(std::move(task));
    } catch (const IoError& error) {
      line = error.what();
      return error.error_number() != 0 ? error.error_number() : -1;
    }
    return 0;
  }

  std::atomic<int> interrupted{0};
  MemoryStore store;
  FilePtr file;
  std::unique_ptr<Queue> below;
  FaultPlan plan;
  FaultyQueue queue;
  Reactor reactor;
  std::string line;
};

Task<void> read_all(Bench& bench, AlignedBuffer& buffer, std::size_t at_least, std::size_t& got) {
  got = co_await bench.reactor.read(*bench.file, 0, buffer.data(), buffer.size(), at_least);
}

Task<void> write_all(Bench& bench, const AlignedBuffer& buffer) {
  co_await bench.reactor.write(*bench.file, 0, buffer.data(), buffer.size());
}

Task<void> sync(Bench& bench) { co_await bench.reactor.sync(*bench.file); }

Task<void> reserve(Bench& bench, bool& can) { can = co_await bench.reactor.reserve(*bench.file, 0, 8 * unit); }

Task<void> release(Bench& bench, bool& can) { can = co_await bench.reactor.release(*bench.file, 0, 8 * unit); }

Task<void> take(Semaphore& slots, int& taken) {
  co_await slots.take();
  ++taken;
}

Task<void> wait_for(Signal& signal, int& woken) {
  co_await signal.changed();
  ++woken;
}

Task<void> fail_with(int number) {
  throw IoError("broken", number);
  co_return;
}

struct CountsItsEnd {
  int& ended;
  ~CountsItsEnd() { ++ended; }
};

Task<void> sleep_until_cancelled(Semaphore& slots, int& unwound) {
  const CountsItsEnd end{unwound};
  co_await slots.take();
}

}  // namespace

TEST(TaskGroup, JoinWaitsForEveryTaskAlsoAfterAnError) {
  Bench bench;
  AlignedBuffer a(4 * unit), b(4 * unit);
  std::size_t got_a = 0, got_b = 0;
  bool joined = false;
  const auto all = [&]() -> Task<void> {
    TaskGroup group(bench.reactor.scope());
    group.spawn(read_all(bench, a, 1, got_a));
    group.spawn(fail_with(EPERM));
    group.spawn(read_all(bench, b, 1, got_b));  // after the failure: not begun any more
    EXPECT_EQ(group.running(), 1U) << "the read that was under way";
    try {
      co_await group.join();
    } catch (const Cancelled&) {
      joined = group.running() == 0;
      throw;
    }
  };
  EXPECT_EQ(bench.error_of(all()), EPERM);
  EXPECT_TRUE(joined);
  EXPECT_EQ(got_a, 4 * unit) << "what was in flight came to its end";
  EXPECT_EQ(got_b, 0U);
}

TEST(TaskGroup, OneFailureWakesEveryoneWhoSleepsAndIsThrownOnce) {
  Bench bench;
  Semaphore slots(bench.reactor.scope(), 0);
  Signal signal(bench.reactor.scope());
  int unwound = 0, woken = 0;
  const auto all = [&]() -> Task<void> {
    TaskGroup group(bench.reactor.scope());
    for (int i = 0; i < 5; ++i) group.spawn(sleep_until_cancelled(slots, unwound));
    group.spawn(wait_for(signal, woken));
    group.spawn(fail_with(EIO));
    group.spawn(fail_with(EPERM));  // later: not told
    co_await group.join();
  };
  EXPECT_EQ(bench.error_of(all()), EIO);
  EXPECT_EQ(unwound, 5);
  EXPECT_EQ(woken, 0);
}

TEST(Semaphore, AreGivenFirstComeFirstServed) {
  Bench bench;
  Semaphore slots(bench.reactor.scope(), 1);
  int taken = 0;
  const auto all = [&]() -> Task<void> {
    TaskGroup group(bench.reactor.scope());
    for (int i = 0; i < 3; ++i) group.spawn(take(slots, taken));
    EXPECT_EQ(taken, 1);
    slots.give();
    slots.give();
    co_await group.join();
    EXPECT_EQ(taken, 3);
    EXPECT_EQ(slots.free(), 0U);
  };
  bench.run(all());
}

TEST(Semaphore, WhoeverWaitedGoesOnBeforeThoseWhoAskLater) {
  Bench bench;
  Semaphore slots(bench.reactor.scope(), 1);
  std::string order;
  const auto take_as = [&](char name) -> Task<void> {
    co_await slots.take();
    order += name;
  };
  const auto all = [&]() -> Task<void> {
    TaskGroup group(bench.reactor.scope());
    for (const char name : {'a', 'b', 'c'}) group.spawn(take_as(name));
    for (int i = 0; i < 5; ++i) slots.give();  // b and c have theirs, but have yet to continue
    for (const char name : {'d', 'e'}) group.spawn(take_as(name));
    co_await group.join();
    group.spawn(take_as('f'));
    EXPECT_EQ(order, "abcdef");
    EXPECT_EQ(slots.free(), 0U);
  };
  bench.run(all());
}

TEST(Signal, WakesAllWhoWaitAtThatMoment) {
  Bench bench;
  Signal signal(bench.reactor.scope());
  int woken = 0;
  const auto all = [&]() -> Task<void> {
    TaskGroup group(bench.reactor.scope());
    for (int i = 0; i < 3; ++i) group.spawn(wait_for(signal, woken));
    signal.notify();
    co_await group.join();
    EXPECT_EQ(woken, 3);
  };
  bench.run(all());
}

TEST(Reactor, AnInterruptionEndsWhatSleeps) {
  Bench bench;
  Semaphore never(bench.reactor.scope(), 0);
  int unwound = 0;
  bench.interrupted = SIGTERM;
  bench.queue.notify();
  EXPECT_THROW(bench.run(sleep_until_cancelled(never, unwound)), Interrupted);
  EXPECT_EQ(unwound, 1);
}

TEST(Reactor, WhoComputesOnTheCoordinatorLetsOthersHaveTheirTurn) {
  Bench bench;
  std::size_t got = 0, turns = 0;
  AlignedBuffer buffer(4 * unit);
  TaskGroup group(bench.reactor.scope());
  group.spawn(read_all(bench, buffer, buffer.size(), got));
  group.spawn([](Bench& where, const std::size_t& arrived, std::size_t& count) -> Task<void> {
    for (; arrived == 0 && count < 1'000'000; ++count) co_await where.reactor.turn();
  }(bench, got, turns));
  bench.reactor.run(group, bench.interrupted);
  EXPECT_EQ(got, buffer.size());
  EXPECT_LT(turns, 1'000'000U) << "the read went on while the other computed";
}

TEST(Reactor, ATurnEndsWhereAnotherFailed) {
  Bench bench;
  TaskGroup group(bench.reactor.scope());
  group.spawn([](Bench& where) -> Task<void> {
    while (true) co_await where.reactor.turn();
  }(bench));
  group.spawn(fail_with(EIO));
  EXPECT_THROW(bench.reactor.run(group, bench.interrupted), IoError);
}

TEST(Reactor, ShortCountsAndInterruptedRequestsAreCompleted) {
  for (const char* faults : {"run:read:1:EINTR", "run:read:1:EAGAIN", "run:read:1:short=700", "run:read:1:short=512:persistent",
                             "run:write:1:EINTR", "run:write:1:zero", "run:write:2:short=512:persistent"}) {
    Bench bench(faults);
    const std::string text = pattern(20 * unit, 5);
    bench.run(write_all(bench, AlignedBuffer(text)));
    EXPECT_EQ(bench.store.contents("/disk/file"), text) << faults;
    AlignedBuffer buffer(20 * unit);
    std::size_t got = 0;
    bench.run(read_all(bench, buffer, 20 * unit, got));
    EXPECT_EQ(got, 20 * unit);
    EXPECT_EQ(buffer.text(got), text) << faults;
  }
}

TEST(Reactor, ARequestThatIsInterruptedForEverEndsWithAnError) {
  Bench reading("run:read:1:EINTR:persistent");
  AlignedBuffer buffer(4 * unit);
  std::size_t got = 0;
  EXPECT_EQ(reading.error_of(read_all(reading, buffer, 1, got)), EINTR);
  Bench writing("run:write:1:zero:persistent");
  EXPECT_EQ(writing.error_of(write_all(writing, buffer)), EIO);
  EXPECT_THAT(writing.line, ::testing::HasSubstr("/disk/file"));
}

// The rest of a write, sent once more, would come after what was written behind it, whatever a queue makes of it.
TEST(Reactor, AWriteOnAStreamIsNeverTriedAgain) {
  for (const char* faults :
       {"output:write:1:short=100", "output:write:1:zero", "output:write:1:EINTR", "output:write:1:EAGAIN"}) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const Descriptor reader(ends[0]);
    const File writer(ends[1], {.role = Role::output, .path = "(pipe)", .is_stream = true});
    const Backend pool = make_queue(BackendChoice::pool, 4);
    FaultPlan plan(parse_faults(faults));
    FaultyQueue queue(*pool.queue, plan);
    Reactor reactor(queue, 1, 2);
    const AlignedBuffer buffer(pattern(2 * unit));
    const auto write = [&]() -> Task<void> { co_await reactor.write(writer, 0, buffer.data(), buffer.size()); };
    const std::atomic<int> nothing{0};
    TaskGroup group(reactor.scope());
    group.spawn(write());
    EXPECT_THROW(reactor.run(group, nothing), IoError) << faults;
    EXPECT_EQ(plan.seen(Role::output, FaultPoint::write), 1U) << faults;
  }
}

TEST(Reactor, AWriteThatDoesNotFollowTheOneBeforeNeverGetsIntoAStream) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
  const Descriptor reader(ends[0]);
  const File writer(ends[1], {.role = Role::output, .path = "(pipe)", .is_stream = true});
  const Backend pool = make_queue(BackendChoice::pool, 4);
  Reactor reactor(*pool.queue, 1, 2);
  const AlignedBuffer buffer(pattern(3 * unit));
  const auto write = [&](std::uint64_t block) -> Task<void> {
    co_await reactor.write(writer, block * unit, buffer.data() + block * unit, unit);
  };
  const std::atomic<int> nothing{0};
  TaskGroup group(reactor.scope());
  for (const std::uint64_t block : {0, 2, 1}) group.spawn(write(block));
  EXPECT_THROW(reactor.run(group, nothing), InternalError);
  std::array<char, 4 * unit> got{};
  EXPECT_LE(::read(reader.get(), got.data(), got.size()), static_cast<ssize_t>(unit)) << "the first, if it was not cancelled";
}

TEST(Reactor, AFileThatBecameShorterIsToldFromOneThatEnds) {
  Bench bench({}, pattern(5 * unit + 100));
  AlignedBuffer buffer(20 * unit);
  std::size_t got = 0;
  bench.run(read_all(bench, buffer, 5 * unit + 100, got));
  EXPECT_EQ(got, 5 * unit + 100);
  EXPECT_NE(bench.error_of(read_all(bench, buffer, 5 * unit + 101, got)), 0);
  EXPECT_THAT(bench.line, ::testing::HasSubstr("changed while it was read"));
}

TEST(Reactor, AFailedSyncIsFinal) {
  for (const int number : {EINTR, EIO, EAGAIN}) {
    Bench bench(std::string("run:sync:1:") + ::strerrorname_np(number));
    EXPECT_EQ(bench.error_of(sync(bench)), number);
    EXPECT_EQ(bench.plan.seen(Role::run, FaultPoint::sync), 1U) << "it was tried again";
  }
}

TEST(Reactor, SpaceOperationsAFileSystemLacksAreNoError) {
  for (const char* faults : {"run:reserve:1:EOPNOTSUPP,run:release:1:EOPNOTSUPP", "run:reserve:1:ENOSYS,run:release:1:ENOSYS"}) {
    Bench bench(faults);
    bool can_reserve = true, can_release = true;
    bench.run(reserve(bench, can_reserve));
    bench.run(release(bench, can_release));
    EXPECT_FALSE(can_reserve);
    EXPECT_FALSE(can_release);
  }
  Bench full("run:reserve:1:ENOSPC");
  bool can = false;
  EXPECT_EQ(full.error_of(reserve(full, can)), ENOSPC);
}

TEST(Compute, ReportsBackAndHandsItsErrorOver) {
  for (const unsigned threads : {0U, 1U, 3U}) {
    Bench bench;
    engine::Compute compute(bench.reactor, threads);
    std::atomic<int> done = 0;
    const auto work = [&](int i) -> Task<void> {
      auto job = compute.run([&] { ++done; });
      co_await job;
      if (i != 7) co_return;
      auto bad = compute.run([] { throw IoError("damaged", EBADMSG); });
      co_await bad;
    };
    const auto all = [&]() -> Task<void> {
      TaskGroup group(bench.reactor.scope());
      for (int i = 0; i < 8; ++i) group.spawn(work(i));
      co_await group.join();
    };
    EXPECT_EQ(bench.error_of(all()), EBADMSG) << threads;
    EXPECT_EQ(done, 8) << threads;
  }
}

}  // namespace ecosort::io
