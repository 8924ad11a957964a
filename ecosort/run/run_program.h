// The program that compresses runs (--compress-program): PROG on their way to the drive, PROG -d on their way back.
//
//   sealed blocks -> pipe -> PROG -> file without a name -> PROG -d -> pipe -> the same blocks, in order
//
// The pipes are streams of the I/O queue: no one but PROG ever waits in a write or a read, and an interrupted run leaves them at
// once. PROG may keep back as much as it likes: no pipe waits for another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/task.h"
#include "io/child_process.h"
#include "io/file.h"
#include "io/reactor.h"

namespace ecosort::run {

// One run on one of its ways. Coordinator only; must outlive its tasks. Its end is that of the program, by force if need be.
//
// IoError, with how the program ended, from every task where it failed, ended early, or gave back more or less than it got.
class RunProgram {
 public:
  enum class Direction : std::uint8_t { compress, decompress };

  // Starts `name`, which writes to `file`, or reads it, from its beginning. IoError where it cannot be run.
  RunProgram(const std::string& name, Direction direction, const io::File& file);

  [[nodiscard]] Task<void> write(io::Reactor& reactor, std::byte* data, std::size_t size);
  [[nodiscard]] Task<void> read(io::Reactor& reactor, std::byte* data, std::size_t size);

  // Everything was written, or read: waits for the end of the program.
  [[nodiscard]] Task<void> finish(io::Reactor& reactor);

  // Asks it to end; does not wait.
  void terminate() noexcept { child_->terminate(); }

 private:
  [[noreturn]] void fail(std::string_view what);

  std::string words_;  // of its command, for messages
  Direction direction_;
  std::optional<io::ChildProcess> child_;
  std::uint64_t given_bytes_ = 0;
  io::FilePtr stream_;  // our end of the pipe; goes before the child, which may wait for it
};

}  // namespace ecosort::run
