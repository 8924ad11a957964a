#include "cli/write_signals.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace ecosort::cli {

namespace {

// The process was started with it, before this program ignored it.
bool was_ignored = true;

bool reader_is_gone() noexcept {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

void ignore_write_signals() {
  if (std::signal(SIGPIPE, SIG_IGN) != SIG_IGN) was_ignored = false;
  std::signal(SIGXFSZ, SIG_IGN);
}

void end_if_no_one_reads(const Error& error) noexcept {
  const auto* const failed = dynamic_cast<const IoError*>(&error);
  if (was_ignored || failed == nullptr || failed->error_number() != EPIPE || !reader_is_gone()) return;
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
}

}  // namespace ecosort::cli
