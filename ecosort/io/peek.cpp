#include "io/peek.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <thread>

namespace ecosort::io {
namespace {

using namespace std::chrono_literals;
constexpr auto between_looks = 5ms;
constexpr int most_looks = 200;  // a second, for who writes a few bytes at a time

struct Ends {
  std::array<int, 2> fds{-1, -1};
  Ends() noexcept {
    if (::pipe2(fds.data(), O_CLOEXEC | O_NONBLOCK) != 0) fds = {-1, -1};
  }
  ~Ends() {
    for (const int fd : fds)
      if (fd >= 0) ::close(fd);
  }
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;
};

// tee(2) copies what is in a pipe into another one and takes nothing away.
std::size_t look(int fd, std::span<std::byte> to) noexcept {
  const Ends copy;
  if (copy.fds[0] < 0) return 0;
  const ssize_t copied = ::tee(fd, copy.fds[1], to.size(), SPLICE_F_NONBLOCK);
  if (copied <= 0) return 0;
  const ssize_t got = ::read(copy.fds[0], to.data(), to.size());
  return got < 0 ? 0 : static_cast<std::size_t>(got);
}

// Whether a writer is left; false where the pipe cannot be asked.
bool waits_for_more(int fd) noexcept {
  pollfd asked{fd, POLLIN, 0};
  while (::poll(&asked, 1, -1) < 0)
    if (errno != EINTR) return false;
  return (asked.revents & (POLLHUP | POLLERR | POLLNVAL)) == 0;
}

}  // namespace

Peeked peek(int fd, std::span<std::byte> to) noexcept {
  struct stat info{};
  if (::fstat(fd, &info) != 0 || !S_ISFIFO(info.st_mode)) return {};
  Peeked peeked;
  for (int looks = 0; looks < most_looks; ++looks) {
    if (looks > 0) std::this_thread::sleep_for(between_looks);
    const bool is_open = waits_for_more(fd);
    peeked = {look(fd, to), !is_open};
    if (peeked.size == to.size()) return {peeked.size, false};
    if (!is_open) break;
  }
  return peeked;
}

}  // namespace ecosort::io
