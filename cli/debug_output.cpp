#include "cli/debug_output.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "base/errors.h"
#include "formats/lines/debug_marks.h"

namespace ecosort::cli {
namespace {

constexpr int poll_ms = 100;  // how soon a reader who does not read is given up once the sort ended with an error

}  // namespace

DebugOutput::DebugOutput(DebugTerms terms) : terms_(std::move(terms)), order_(terms_.order) {
  int ends[2];
  output_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (output_ < 0) throw IoError::from_call("use", "standard output", errno);
  if (::pipe2(ends, O_CLOEXEC) != 0) throw IoError::from_call("create a pipe for", "standard output", errno);
  pipe_ = ends[0];
  ::dup2(ends[1], STDOUT_FILENO);
  ::close(ends[1]);
  thread_ = std::thread([this] { pass_on(); });
}

DebugOutput::~DebugOutput() {
  is_abandoned_ = true;
  close_pipe();
  ::close(output_);
}

void DebugOutput::finish() {
  close_pipe();
  if (error_ != 0) throw IoError::from_call("write", "standard output", error_);
}

// The thread finds the end of the pipe when its last writer is gone.
void DebugOutput::close_pipe() noexcept {
  if (!thread_.joinable()) return;
  ::dup2(output_, STDOUT_FILENO);
  thread_.join();
}

// After an error what comes is thrown away: the sort ends as it would, and finish() says what was wrong.
void DebugOutput::pass_on() {
  std::string line, marked;
  char buffer[65536];
  while (true) {
    const ssize_t count = ::read(pipe_, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    mark_lines({buffer, static_cast<std::size_t>(count)}, line, marked);
    write_out(marked);
    marked.clear();
  }
  ::close(pipe_);
}

void DebugOutput::mark_lines(std::string_view bytes, std::string& line, std::string& marked) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find(terms_.terminator);
    line += bytes.substr(0, end);
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    if (terms_.header_lines > 0) {
      --terms_.header_lines;
      marked += line + '\n';
    } else {
      lines::append_marked(line, order_, marked);
    }
    line.clear();
  }
}

// In parts that a pipe takes without blocking once it is ready, so that no one waits for a reader who went away.
void DebugOutput::write_out(std::string_view text) {
  while (!text.empty() && error_ == 0) {
    pollfd ready{output_, POLLOUT, 0};
    const int found = ::poll(&ready, 1, poll_ms);
    if (found == 0 && is_abandoned_) return;
    if (found <= 0) continue;
    const ssize_t count = ::write(output_, text.data(), std::min<std::size_t>(text.size(), 4096));
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR && errno != EAGAIN) {
      error_ = errno;
    }
  }
}

}  // namespace ecosort::cli
