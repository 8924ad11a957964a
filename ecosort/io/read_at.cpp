#include "io/read_at.h"

#include <unistd.h>

#include <cerrno>

#include "base/errors.h"

namespace ecosort::io {

std::size_t read_at(const File& file, std::uint64_t offset, std::byte* to, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(file.fd(), to + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw IoError::from_call("read", file.path(), errno, offset, size);
    done += static_cast<std::size_t>(got);
    if (got == 0 || done % page_bytes != 0) break;
  }
  return done;
}

}  // namespace ecosort::io
