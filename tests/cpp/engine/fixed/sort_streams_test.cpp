// Sorts from a pipe into a pipe under faults: what has been written by then is the beginning of the result, whatever fails.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <set>
#include <thread>

#include "base/descriptor.h"
#include "base/errors.h"
#include "cpp/engine/fixed/sort_harness.h"
#include "cpp/io/test_support.h"
#include "cpp/support/test_environment.h"
#include "cpp/support/watchdog.h"
#include "doubles/faulty_queue.h"
#include "io/backends.h"
#include "io/counting_queue.h"
#include "io/posix_storage.h"

namespace ecosort::engine::fixed {

namespace {

using io::Effect;
using io::Fault;
using io::FaultPoint;
using io::Role;

constexpr unsigned depth = 40;

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw IoError::from_call("make", "a pipe", errno);
    reader = Descriptor(ends[0]);
    writer = Descriptor(ends[1]);
  }
  Descriptor reader, writer;
};

// A file system whose standard output is a pipe.
class Piped : public io::PosixStorage {
 public:
  explicit Piped(Descriptor output) : output_(std::move(output)) {}
  [[nodiscard]] io::FilePtr open_standard_output() override {
    return std::make_unique<io::File>(output_.release(),
                                      io::File::Facts{.role = Role::output, .path = "(standard output)", .is_stream = true});
  }

 private:
  Descriptor output_;
};

void write_all(const Descriptor& pipe, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(pipe.get(), text.data() + done, text.size() - done);
    if (written <= 0) return;  // the sort has failed and closed its end
    done += static_cast<std::size_t>(written);
  }
}

std::string read_all(const Descriptor& pipe) {
  std::string text;
  std::array<char, 65536> some{};
  for (ssize_t got = 0; (got = ::read(pipe.get(), some.data(), some.size())) > 0;)
    text.append(some.data(), static_cast<std::size_t>(got));
  return text;
}

struct Ending {
  std::string line;  // of the error; empty if there was none
  std::string output;
};

// Sorts `records` from one pipe into another, with the least memory.
Ending sort_piped(const records::RecordFormat& format, const std::string& records, Disk disk, io::FaultPlan& plan) {
  const io::TempDirectory directory;
  Pipe input, output;
  auto storage = std::make_unique<Piped>(std::move(output.writer));
  const io::Backend backend = io::make_queue(io::parse_backend(to_string(disk)), depth);
  io::FaultyQueue faulty(*backend.queue, plan);
  io::CountingQueue queue(faulty, depth);
  SortJob job;
  planner::Wanted wanted{.format = format, .size_unknown = true, .memory_bytes = planner::least_memory_bytes, .threads = 1};
  wanted.input_alignment = 1;
  job.plan = planner::make_plan(wanted);
  job.inputs.emplace_back();
  job.inputs[0].file = std::make_unique<io::File>(
      input.reader.release(), io::File::Facts{.role = Role::input, .path = "(standard input)", .is_stream = true});
  job.output = "-";
  job.directories = {directory.path()};
  Progress progress;
  PhaseLog log("");
  const std::atomic<int> nothing{0};
  Ending ending;
  std::thread writer([&] {
    write_all(input.writer, records);
    input.writer = Descriptor();
  });
  std::thread reader([&] { ending.output = read_all(output.reader); });
  try {
    (void)sort(job, {*storage, queue, progress, log, nothing});
  } catch (const IoError& error) {
    ending.line = error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "ended with: " << error.what();
  }
  EXPECT_EQ(queue.counts().in_flight, 0U);
  job.inputs.clear();
  storage.reset();  // and its end of the pipe, if it was not used
  writer.join();
  reader.join();
  EXPECT_THAT(directory.names(), ::testing::IsEmpty());
  return ending;
}

// A read that fails may be tried again, because the next one waits for it; a write may not. Zero bytes are the end.
std::vector<Effect> effects_on(Role role) {
  std::vector<Effect> effects;
  for (const int number : {EIO, ENOSPC, EFBIG, EDQUOT, EINTR, EAGAIN}) effects.push_back({Effect::Kind::error, number, 0});
  if (role == Role::input) effects.push_back({Effect::Kind::short_count, 0, 1'000});
  return effects;
}

bool is_overcome(const Fault& fault) {
  if (fault.effect.kind == Effect::Kind::short_count) return true;
  return fault.role == Role::input && !fault.is_persistent && (fault.effect.number == EINTR || fault.effect.number == EAGAIN);
}

// The first, the last, and some between; all of them in a soak.
std::set<std::uint64_t> chosen(std::uint64_t seen) {
  std::set<std::uint64_t> nths{1, 2, seen / 2, seen};
  for (std::uint64_t nth = 1; is_soak() && nth <= seen; ++nth) nths.insert(nth);
  nths.erase(0);
  return nths;
}

class SortStreams : public ::testing::TestWithParam<Disk> {
 protected:
  void SetUp() override { previous_ = std::signal(SIGPIPE, SIG_IGN); }
  void TearDown() override { std::signal(SIGPIPE, previous_); }

 private:
  void (*previous_)(int) = SIG_DFL;
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Disks, SortStreams, ::testing::Values(Disk::pool, Disk::uring, Disk::stxxl),
                         [](const auto& parameter) { return std::string(to_string(parameter.param)); });

TEST_P(SortStreams, WriteTheBeginningOfTheResultOrAllOfIt) {
  if (std::ranges::count(usable_disks(), GetParam()) == 0) GTEST_SKIP() << to_string(GetParam()) << " is not available";
  const records::RecordFormat format{100, {{0, 10}}};
  const std::string records = make_records(format, Keys::two_values, 26'000);
  const std::string expected = sorted_copy(format, records);
  Watchdog watchdog("a sort without a fault");
  io::FaultPlan none;
  const Ending whole = sort_piped(format, records, GetParam(), none);
  EXPECT_EQ(whole.line, "");
  EXPECT_EQ(difference(whole.output, expected, 100), "");
  auto turn = static_cast<unsigned>(GetParam());  // the first has every effect, the others some, on each disk others
  for (const auto& [role, point] : {std::pair{Role::input, FaultPoint::read}, std::pair{Role::output, FaultPoint::write}}) {
    ASSERT_GT(none.seen(role, point), 3U);
    for (const std::uint64_t nth : chosen(none.seen(role, point))) {
      for (const Effect& effect : effects_on(role)) {
        for (const bool is_persistent : {false, true}) {
          if (++turn % 5 != 0 && nth != 1 && !is_soak()) continue;
          const Fault fault{role, point, nth, effect, is_persistent};
          const std::string name = fmt::format("{}:{}:{}: {} {}{}", io::to_string(role), io::to_string(point), nth, effect.number,
                                               effect.bytes, is_persistent ? " persistent" : "");
          SCOPED_TRACE(name);
          watchdog.next(name);
          io::FaultPlan plan({fault});
          const Ending ending = sort_piped(format, records, GetParam(), plan);
          EXPECT_EQ(ending.output, expected.substr(0, ending.output.size()));
          if (plan.fired() == 0 || is_overcome(fault)) {  // a pipe brings as much at a time as it likes
            EXPECT_EQ(ending.line, "");
            EXPECT_EQ(ending.output.size(), expected.size());
          } else {
            EXPECT_THAT(ending.line, ::testing::HasSubstr(role == Role::input ? "(standard input)" : "(standard output)"));
            EXPECT_LT(ending.output.size(), expected.size());
          }
          if (HasFailure()) return;
        }
      }
    }
  }
}

}  // namespace ecosort::engine::fixed
