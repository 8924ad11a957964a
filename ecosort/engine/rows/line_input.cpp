#include "engine/rows/line_input.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string_view>
#include <utility>

#include "base/errors.h"
#include "codec/decoder.h"
#include "engine/rows/damaged_input.h"

namespace ecosort::engine::rows {
namespace {

constexpr std::uint64_t small_input_bytes = std::uint64_t{1} << 20U;  // read through the page cache

}  // namespace

void LineInput::open(io::Storage& storage) {
  file = storage.open_input(name, io::Caching::buffered);
  if (!file->facts().is_stream && file->facts().size_bytes >= small_input_bytes) {
    storage.close(std::move(file));
    file = storage.open_input(name, io::Caching::direct_if_possible);
  }
  if (!file->facts().is_stream) opened = storage.state(*file);
}

void LineInput::look_at_beginning(char terminator) {
  if (decompresses) codec = codec::codec_of_input_name(name);
  if (file->facts().is_stream) return;
  alignas(page_bytes) std::byte first[page_bytes];  // for direct I/O
  ssize_t size = 0;
  do size = ::pread(file->fd(), first, sizeof first, static_cast<off_t>(file->facts().start_offset));
  while (size < 0 && errno == EINTR);
  if (size < 0) throw IoError::from_call("read", file->path(), errno);
  const std::string_view page(reinterpret_cast<const char*>(first), static_cast<std::size_t>(size));
  take_beginning(page);
  if (is_decoded()) return;
  first_bytes = page.size();
  first_rows = std::max<std::size_t>(std::ranges::count(page, terminator), 1);
}

void LineInput::look_at_beginning(std::string first) {
  beginning = std::move(first);
  take_beginning(*beginning);
}

void LineInput::take_beginning(std::string_view first) {
  contents = codec::contents_of(first, name);
  if (contents != nullptr && contents->codec) codec = contents->codec;
  if (contents != nullptr && !contents->codec && decompresses) refuse_contents(name, first);
  if (codec) decoder_bytes = codec::decoder_bytes(*codec, first.substr(0, codec::beginning_bytes));
}

bool LineInput::has_grown(io::Storage& storage) const {
  if (file->facts().is_stream) return false;
  const io::FileState now = storage.state(*file);
  if (now.size_bytes > opened.size_bytes) return true;
  if (now.size_bytes != opened.size_bytes || now.modified_ns != opened.modified_ns)
    throw IoError(fmt::format("'{}' changed while it was read", name));
  return false;
}

}  // namespace ecosort::engine::rows
