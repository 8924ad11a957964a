#include "run/run_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/errors.h"
#include "formats/lines/quoted.h"

namespace ecosort::run {
namespace {

constexpr int pipe_bytes = 256 * 1024;  // 64 KiB are usual; fewer changes between the two processes
// The program may take so long to end once its pipe shows that it will do nothing more for us.
constexpr std::chrono::milliseconds patience{1000};

io::FilePtr stream_of(Descriptor descriptor, const std::string& name) {
  return std::make_unique<io::File>(descriptor.release(),
                                    io::File::Facts{.role = io::Role::run, .path = name, .is_stream = true});
}

}  // namespace

RunProgram::RunProgram(const std::string& name, Direction direction, const io::File& file)
    : words_(direction == Direction::compress ? name : name + " -d"), direction_(direction) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw IoError::from_call("create a pipe for", words_, errno);
  Descriptor reading(ends[0]), writing(ends[1]);
  (void)::fcntl(writing.get(), F_SETPIPE_SZ, pipe_bytes);
  if (::lseek(file.fd(), 0, SEEK_SET) < 0) throw IoError::from_call("seek in", file.path(), errno);
  std::vector<std::string> command{name};
  const bool compresses = direction == Direction::compress;
  if (!compresses) command.emplace_back("-d");
  try {
    child_.emplace(command, compresses ? reading.get() : file.fd(), compresses ? file.fd() : writing.get());
  } catch (const IoError& error) {
    throw IoError(
        fmt::format("cannot run the compress program {}: {}{}", lines::quoted_word(words_), std::strerror(error.error_number()),
                    error.error_number() == EAGAIN ? "; merge fewer runs at a time" : ""),
        error.error_number());
  }
  stream_ = stream_of(std::move(compresses ? writing : reading), words_);
}

void RunProgram::fail(std::string_view what) {
  const std::optional<io::ChildEnd> end = child_->end(patience);
  child_->terminate();  // other tasks need not be patient again
  throw IoError(fmt::format("compress program {} {}: try it by hand, or sort without it", lines::quoted_word(words_),
                            end && !end->is_success() ? end->text() : std::string(what)));
}

Task<void> RunProgram::write(io::Reactor& reactor, std::byte* data, std::size_t size) {
  try {
    co_await reactor.write(*stream_, std::exchange(given_bytes_, given_bytes_ + size), data, size);
  } catch (const IoError& error) {
    if (error.error_number() == EPIPE) fail("ended before it had read all that it was given");
    throw;
  }
}

Task<void> RunProgram::read(io::Reactor& reactor, std::byte* data, std::size_t size) {
  const std::size_t got = co_await reactor.read(*stream_, 0, data, size, 0);
  if (got < size) fail("gave back less than was compressed");
}

Task<void> RunProgram::finish(io::Reactor& reactor) {
  std::byte beyond{};
  if (direction_ == Direction::compress) {
    stream_.reset();
  } else {
    const std::size_t more = co_await reactor.read(*stream_, 0, &beyond, 1, 0);
    if (more > 0) fail("gave back more than was compressed");
  }
  if (!child_->end()) {
    const io::FilePtr ended = stream_of(child_->watch(), words_);
    (void)co_await reactor.read(*ended, 0, &beyond, 1, 0);
  }
  const std::optional<io::ChildEnd> end = child_->end(patience);
  if (!end || !end->is_success()) fail("did not end");
}

}  // namespace ecosort::run
