#include "io/wakeup.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <cstdint>

#include "base/errors.h"

namespace ecosort::io {

Wakeup::Wakeup() : event_(::eventfd(0, EFD_CLOEXEC)) {
  if (!event_.is_open()) throw IoError::from_call("create", "the event of an I/O queue", errno);
}

void Wakeup::ring() noexcept {
  const int saved = errno;
  constexpr std::uint64_t one = 1;
  // Fails only if interrupted before anything happened; the counter cannot overflow.
  while (::write(event_.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
  errno = saved;
}

void Wakeup::notify() noexcept {
  notified_.store(true);
  ring();
}

void Wakeup::sleep() noexcept {
#ifdef __SANITIZE_THREAD__  // holds signals back until a read() ends, but not a poll()
  pollfd ready{event_.get(), POLLIN, 0};
  (void)::poll(&ready, 1, -1);
#endif
  std::uint64_t rings = 0;
  [[maybe_unused]] const ssize_t read = ::read(event_.get(), &rings, sizeof rings);
}

}  // namespace ecosort::io
