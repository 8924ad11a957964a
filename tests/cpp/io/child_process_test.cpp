// A program runs beside us: its end is reported, and nothing of it is left.
#include "io/child_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.h"

namespace ecosort::io {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr milliseconds long_enough{20'000};

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    reading = Descriptor(ends[0]);
    writing = Descriptor(ends[1]);
  }
  Descriptor reading, writing;
};

// A shell with this script; what it reads and writes are pipes of ours.
class Shell {
 public:
  explicit Shell(const std::string& script) : child({"sh", "-c", script}, input.reading.get(), output.writing.get()) {
    input.reading = Descriptor();
    output.writing = Descriptor();
  }
  std::string line() {
    std::string text;
    for (char c = 0; ::read(output.reading.get(), &c, 1) == 1 && c != '\n';) text += c;
    return text;
  }
  Pipe input, output;
  ChildProcess child;
};

bool is_running(const std::string& pid) {
  std::ifstream status("/proc/" + pid + "/stat");
  std::string number, name, state;
  return (status >> number >> name >> state) && state != "Z";
}

void expect_gone(const std::string& pid) {
  for (int i = 0; i < 2000 && is_running(pid); ++i) ::usleep(5000);
  EXPECT_FALSE(is_running(pid));
}

TEST(ChildProcess, TellsItsExitStatus) {
  Shell shell("exit 3");
  const auto end = shell.child.end(long_enough);
  ASSERT_TRUE(end.has_value());
  EXPECT_FALSE(end->is_success());
  EXPECT_EQ(end->text(), "ended with exit status 3");
  Shell well("exit 0");
  EXPECT_TRUE(well.child.end(long_enough).value().is_success());
}

TEST(ChildProcess, TellsTheSignalThatEndedIt) {
  Shell shell("kill -KILL $$");
  EXPECT_EQ(shell.child.end(long_enough).value().text(), "was ended by signal 9 (Killed)");
}

TEST(ChildProcess, ReadsAndWritesTheDescriptorsGiven) {
  Shell shell("read word; echo \"got $word\"");
  ASSERT_EQ(::write(shell.input.writing.get(), "this\n", 5), 5);
  EXPECT_EQ(shell.line(), "got this");
  EXPECT_EQ(shell.line(), "");
}

TEST(ChildProcess, HasTheUsualSignalsWhateverIsIgnoredHere) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  Shell shell("kill -PIPE $$; exit 0");
  std::signal(SIGPIPE, before);
  EXPECT_EQ(shell.child.end(long_enough).value().status, SIGPIPE);
}

TEST(ChildProcess, TellsWhyAProgramCannotBeRun) {
  if (std::getenv("ECOSORT_EMULATOR") != nullptr) GTEST_SKIP() << "qemu-user has no vfork that reports failures";
  const Pipe pipe;
  const std::vector<std::pair<std::string, int>> wrong = {
      {"no-such-program-anywhere", ENOENT}, {"/etc/passwd", EACCES}, {"", ENOENT}};
  for (const auto& [name, reason] : wrong) {
    try {
      const ChildProcess child({name}, pipe.reading.get(), pipe.writing.get());
      ADD_FAILURE() << name << " was run";
    } catch (const IoError& error) {
      EXPECT_EQ(error.error_number(), reason) << error.what();
      EXPECT_THAT(error.what(), HasSubstr(name));
    }
  }
}

TEST(ChildProcess, ItsPipeEndsWithIt) {
  Shell shell("read word");
  const Descriptor ended = shell.child.watch();
  pollfd watched{ended.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&watched, 1, 100), 0);
  EXPECT_FALSE(shell.child.end().has_value());
  shell.input.writing = Descriptor();
  ASSERT_EQ(::poll(&watched, 1, static_cast<int>(long_enough.count())), 1);
  char nothing = 0;
  EXPECT_EQ(::read(ended.get(), &nothing, 1), 0);
  EXPECT_TRUE(shell.child.end().has_value());
}

TEST(ChildProcess, IsGoneWithWhatItStartedWhenItsOwnerIs) {
  std::string itself, started;
  {
    Shell shell("echo $$; sleep 1000 & echo $!; wait");
    itself = shell.line();
    started = shell.line();
    EXPECT_TRUE(is_running(itself));
    EXPECT_TRUE(is_running(started));
  }
  EXPECT_NE(::access(("/proc/" + itself).c_str(), F_OK), 0);  // reaped, too
  expect_gone(started);
}

TEST(ChildProcess, IsKilledWhereItDoesNotEnd) {
  std::string itself;
  {
    Shell shell("trap '' TERM; echo $$; while true; do sleep 0.05; done");
    const Descriptor ended = shell.child.watch();
    itself = shell.line();
  }
  EXPECT_NE(::access(("/proc/" + itself).c_str(), F_OK), 0);
}

}  // namespace
}  // namespace ecosort::io
