#include "engine/rows/check_lines.h"

#include <fmt/format.h>

#include <cstring>
#include <span>
#include <vector>

#include "base/errors.h"
#include "base/size_text.h"
#include "io/plain_file.h"

namespace ecosort::lines {
namespace {

constexpr std::size_t block_bytes = std::size_t{256} * 1024;

// Lines of a file, one after the other; the one before the present one stays as well.
class LineReader {
 public:
  LineReader(const std::string& name, char terminator, std::uint64_t longest, const FirstLook& look)
      : name_(name),
        file_(engine::PlainFile::open_for_reading(name == "-" ? "/dev/stdin" : name)),
        terminator_(terminator),
        longest_(longest),
        look_(look) {}

  // False at the end.
  bool next() {
    before_ = begin_;
    begin_ = has_line_ ? end_ + 1 : end_;
    has_line_ = false;
    for (std::size_t searched = begin_;;) {
      const void* found =
          searched < data_.size() ? std::memchr(data_.data() + searched, terminator_, data_.size() - searched) : nullptr;
      if (found != nullptr) {
        end_ = static_cast<std::size_t>(static_cast<const char*>(found) - data_.data());
        break;
      }
      searched = data_.size();
      const std::size_t moved = before_;
      if (read_more()) {
        searched -= moved;
        continue;
      }
      if (begin_ == data_.size()) return false;
      data_.push_back(terminator_);
    }
    has_line_ = true;
    return true;
  }

  [[nodiscard]] Text line() const noexcept { return {data_.data() + begin_, end_ - begin_}; }
  [[nodiscard]] Text before() const noexcept { return {data_.data() + before_, begin_ - 1 - before_}; }

 private:
  bool read_more() {
    if (at_end_) return false;
    if (data_.size() - begin_ > longest_)
      throw NotEnoughMemory(fmt::format("{}: a line is longer than {}", name_, format_bytes(longest_)), longest_);
    data_.erase(data_.begin(), data_.begin() + static_cast<std::ptrdiff_t>(before_));
    begin_ -= before_;
    before_ = 0;
    const std::size_t size = data_.size();
    data_.resize(size + block_bytes);
    const std::size_t count = file_.read(std::as_writable_bytes(std::span(data_)).subspan(size));
    data_.resize(size + count);
    if (!was_looked_at_ && look_) look_(name_, {data_.data(), data_.size()});
    was_looked_at_ = true;
    at_end_ = count < block_bytes;
    return count > 0;
  }

  const std::string& name_;
  engine::PlainFile file_;
  char terminator_;
  std::uint64_t longest_;
  const FirstLook& look_;
  bool was_looked_at_ = false;
  std::vector<char> data_;
  std::size_t before_ = 0, begin_ = 0, end_ = 0;
  bool has_line_ = false, at_end_ = false;
};

}  // namespace

std::optional<Disorder> find_disorder(const std::string& name, const LineOrder& order, char terminator, bool unique,
                                      std::uint64_t memory_bytes, const FirstLook& look) {
  LineReader reader(name, terminator, memory_bytes / 4, look);
  if (!reader.next()) return std::nullopt;
  for (std::uint64_t number = 2; reader.next(); ++number) {
    const int relation = order.compare(reader.before(), reader.line());
    if (relation < 0 || (relation == 0 && !unique)) continue;
    return Disorder{number, std::string(reader.line())};
  }
  return std::nullopt;
}

}  // namespace ecosort::lines
