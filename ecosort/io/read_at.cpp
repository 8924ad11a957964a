#include "io/read_at.h"

#include <unistd.h>

#include <algorithm>
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

std::span<const std::byte> try_read_at(const File& file, std::uint64_t offset, std::uint64_t size, const Buffer& buffer) {
  const std::uint64_t from = round_down(offset, file.alignment()), to = round_up(offset + size, file.alignment());
  ssize_t got = -1;
  do got = ::pread(file.fd(), buffer.data(), to - from, static_cast<off_t>(from));
  while (got < 0 && errno == EINTR);
  if (got < 0) return {};
  const std::span<const std::byte> read(buffer.data(),
                                        std::min<std::uint64_t>(static_cast<std::uint64_t>(got), offset + size - from));
  return read.subspan(std::min<std::uint64_t>(offset - from, read.size()));
}

}  // namespace ecosort::io
