#include "demsort_inplace/prepare/contents.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>

#include "base/errors.h"
#include "base/memory.h"
#include "codec/contents.h"

namespace ecosort::demsort_inplace::prepare {
namespace {

constexpr std::uint64_t stretch_bytes = std::uint64_t{256} << 10U;

// Reads stretches of the file past the page cache.
class Look {
 public:
  explicit Look(const io::File& file) : file_(file), buffer_(memory_.allocate(stretch_bytes, "first look", Pages::small)) {}

  // At a multiple of stretch_bytes.
  [[nodiscard]] std::string_view at(std::uint64_t offset) const {
    ssize_t got = -1;
    do got = ::pread(file_.fd(), buffer_.data(), stretch_bytes, static_cast<off_t>(offset));
    while (got < 0 && errno == EINTR);
    if (got < 0) throw IoError::from_call("read", file_.path(), errno);
    return {reinterpret_cast<const char*>(buffer_.data()), static_cast<std::size_t>(got)};
  }

 private:
  const io::File& file_;
  MemoryBudget memory_{stretch_bytes};
  Buffer buffer_;
};

[[noreturn]] void refuse(const io::File& file, const codec::Contents& found) {
  throw UnfitContents(fmt::format("'{}' is {}, and cannot be sorted in place: {}", file.path(), found.is, found.advice));
}

// The offset of a NUL byte.
std::optional<std::uint64_t> find_nul(const Look& look, std::uint64_t file_bytes) {
  const std::uint64_t stretches = div_up(file_bytes, stretch_bytes), most = looked_at_bytes / stretch_bytes;
  const std::uint64_t places = std::min(stretches, most);
  for (std::uint64_t i = 0; i < places; ++i) {
    const std::uint64_t stretch = places == stretches ? i : i * (stretches - 1) / (places - 1);
    const std::string_view bytes = look.at(stretch * stretch_bytes);
    if (const std::size_t at = bytes.find('\0'); at != std::string_view::npos) return stretch * stretch_bytes + at;
  }
  return std::nullopt;
}

}  // namespace

void check_holds_lines(const io::File& file, char terminator) {
  const Look look(file);
  if (const codec::Contents* const found = codec::contents_of(look.at(0), file.path())) refuse(file, *found);
  if (terminator == '\0') return;
  if (const auto nul = find_nul(look, file.facts().size_bytes))
    throw UnfitContents(
        fmt::format("'{}' has a NUL byte at byte {}, as text has none, and cannot be sorted in place", file.path(), *nul), true);
}

void check_holds_records(const io::File& file) {
  const codec::Contents* const found = codec::contents_of(Look(file).at(0));
  if (found != nullptr && found->is_certain) refuse(file, *found);
}

}  // namespace ecosort::demsort_inplace::prepare
