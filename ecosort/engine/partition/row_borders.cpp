#include "engine/partition/row_borders.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/errors.h"
#include "formats/lines/pass_quotes.h"

namespace ecosort::engine::partition {
namespace {

// Requests are large where all bytes are looked at; else a row or two are wanted.
constexpr std::size_t scan_bytes = std::size_t{1} << 20U, look_bytes = std::size_t{16} << 10U;

}  // namespace

RowBorders::RowBorders(const io::File& file, const formats::RowFormat& format, std::uint64_t first, std::uint64_t end)
    : file_(file),
      format_(format),
      memory_(scan_bytes),
      buffer_(
          memory_.allocate(format.is_walked() ? scan_bytes : look_bytes, "rows of which borders are looked for", Pages::small)),
      at_(first),
      end_(end) {}

Text RowBorders::bytes_here() {
  if (at_ >= end_) return {};
  if (at_ < from_ || at_ >= from_ + got_) {
    from_ = round_down(at_, std::max<std::uint64_t>(file_.alignment(), page_bytes));
    ssize_t size = 0;
    do size = ::pread(file_.fd(), buffer_.data(), buffer_.size(), static_cast<off_t>(from_));
    while (size < 0 && errno == EINTR);
    if (size < 0) throw IoError::from_call("read", file_.path(), errno, from_, buffer_.size());
    got_ = static_cast<std::uint64_t>(size);
    if (at_ >= from_ + got_) throw IoError("'" + file_.path() + "' became shorter while it was read");
  }
  const std::uint64_t until = std::min(from_ + got_, end_);
  return {reinterpret_cast<const char*>(buffer_.data()) + (at_ - from_), until - at_};
}

void RowBorders::pass_until(std::uint64_t place) {
  while (at_ < place) {
    const Text text = bytes_here().substr(0, place - at_);
    lines::pass_quotes(format_, text, inside_);
    at_ += text.size();
  }
}

std::uint64_t RowBorders::at_or_behind(std::uint64_t place) {
  if (place <= at_) return at_;
  if (place >= end_) return at_ = end_;
  if (format_.is_walked())
    pass_until(place - 1);
  else
    at_ = place - 1;
  while (true) {
    const Text text = bytes_here();
    if (text.empty()) return at_;
    const char* const found = format_.find_end(text.data(), text.data() + text.size(), inside_);
    at_ += found == nullptr ? text.size() : static_cast<std::uint64_t>(found - text.data()) + 1;
    if (found == nullptr) continue;
    inside_ = {};
    return at_;
  }
}

}  // namespace ecosort::engine::partition
