#include "formats/record_marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace ecosort::formats {

void RecordMarks::take_away(std::byte* bytes, std::size_t size) noexcept {
  std::replace(bytes, bytes + size, std::byte{mark}, std::byte{'\n'});
}

// `bytes` are all that are not marked yet, and the input begins with them if nothing of it was taken.
std::optional<RecordMarker::Fault> RecordMarker::fault_in(const char* bytes, std::size_t size, const char* new_bytes) const {
  const std::string& start = marks_->start();
  if (at_begin_ && size > 0 && !std::string_view(bytes, size).starts_with(start))
    return Fault{bytes,
                 fmt::format("the first line does not begin with '{}', as a record does; leave out what is in front of the "
                             "first record",
                             start)};
  const void* const found = std::memchr(new_bytes, RecordMarks::mark, static_cast<std::size_t>(bytes + size - new_bytes));
  if (found == nullptr) return std::nullopt;
  return Fault{static_cast<const char*>(found), "a NUL byte, which text of such records does not have"};
}

std::optional<RecordMarker::Fault> RecordMarker::mark(char* bytes, std::size_t size, bool is_all) {
  const std::string_view start = marks_->start();
  char* const from = bytes - open_;
  char* const end = bytes + size;
  const auto left = static_cast<std::size_t>(end - from);
  if (at_begin_ && left < start.size() && !is_all) {
    open_ = left;
    return std::nullopt;
  }
  // Bytes that were too few to show the first record have not been looked at either.
  if (auto fault = fault_in(from, left, at_begin_ ? from : bytes)) return fault;
  at_begin_ = false;
  open_ = 0;
  for (char* at = from; (at = static_cast<char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)))) != nullptr; ++at) {
    const std::string_view next(at + 1, std::min(start.size(), static_cast<std::size_t>(end - at) - 1));
    if (!start.starts_with(next)) continue;
    const bool ends_input = next.empty() && is_all;
    if (next.size() == start.size() || ends_input) {
      *at = RecordMarks::mark;
    } else if (!is_all) {
      open_ = static_cast<std::size_t>(end - at);
      break;
    }
  }
  return std::nullopt;
}

}  // namespace ecosort::formats
