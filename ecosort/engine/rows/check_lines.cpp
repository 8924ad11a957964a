#include "engine/rows/check_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "base/errors.h"
#include "base/size_text.h"
#include "engine/rows/damaged_input.h"
#include "engine/rows/decoded_file.h"
#include "engine/rows/long_row.h"
#include "formats/all/each_format.h"
#include "formats/lines/line_kernels.h"
#include "formats/lines/line_run.h"

namespace ecosort::engine::rows {
namespace {

constexpr std::size_t block_bytes = std::size_t{256} * 1024;

// Rows of a file, one after the other; the one before the present one stays as well.
class LineReader {
 public:
  LineReader(const CheckedFile& file, formats::RowFormat& format, const FirstLook& look)
      : name_(file.name),
        file_(file.name, file.decompresses, file.memory_bytes),
        format_(format),
        longest_(file.memory_bytes / 4),
        look_(look),
        marker_(format.record_marks()) {}

  // Takes what is above the first row that counts, and hashes what a sort puts on top.
  void take_first_rows(hash::MultisetHash& hash) {
    format_.begin_input();
    while (data_.size() < formats::RowFormat::most_mark_bytes && read_more()) {
    }
    begin_ = end_ = format_.mark_bytes({data_.data(), data_.size()});
    while (format_.wants_first_row()) {
      if (!next()) return format_.miss_first_row(formats::shown_name(name_));
      if (take_first_row() != formats::FirstRow::is_sorted) {
        lines::add_line(hash, line());
        continue;
      }
      has_line_ = false;  // it is the first one again
      end_ = begin_;
    }
  }

  // Goes to the next row that is no blank one, where the format leaves these out; they are hashed. False at the end.
  template <class Format>
  bool next_of(const Format& format, hash::MultisetHash& hash) {
    const bool is_more = next();
    if constexpr (Format::checks_rows)
      if (is_more && format.is_blank_end(line())) return pass_blank_end(format);
    if constexpr (Format::leaves_out_blank_rows)
      while (has_line_ && format.is_blank(line())) {
        lines::add_line(hash, line());
        pass_over();
        if (!go_on()) return false;
      }
    return is_more;
  }

  // Passes lines that hold nothing: they may end a file, and nothing else. False at the end.
  template <class Format>
  bool pass_blank_end(const Format& format) {
    std::vector<formats::KeyCounts> uncounted;
    const auto fault = format.check_row(line(), uncounted);
    const std::uint64_t number = number_, byte = passed_ + begin_;
    while (next()) {
      if (format_.is_blank_end(line())) continue;
      file_.check_rest();
      refused_row(fmt::format("{}: line {}, byte {}: {}", formats::shown_name(name_), number, byte, fault->why), *fault).blame();
    }
    return false;
  }

  // False at the end.
  bool next() {
    before_ = begin_;
    return go_on();
  }

  [[nodiscard]] Text line() const noexcept { return {data_.data() + begin_, end_ - begin_}; }
  [[nodiscard]] Text before() const noexcept { return {data_.data() + before_, begin_ - 1 - before_}; }
  // Returns the number, from 1 on, of the line of the file with which the present row begins.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

  [[noreturn]] void refuse(const formats::RowFault& fault) {
    file_.check_rest();
    const auto lines = static_cast<std::uint64_t>(std::count(line().begin(), line().begin() + fault.at, format_.terminator()));
    refused_row(fmt::format("{}: line {}, byte {}: {}", formats::shown_name(name_), number_ + lines, passed_ + begin_ + fault.at,
                            fault.why),
                fault)
        .blame();
  }

 private:
  // A fault in it may be due to damage.
  formats::FirstRow take_first_row() {
    try {
      return format_.take_first_row(formats::shown_name(name_), line());
    } catch (const UsageError&) {
      file_.check_rest();
      throw;
    }
  }

  // The row before takes the place of the present one.
  void pass_over() {
    const std::size_t size = begin_ > before_ ? begin_ - 1 - before_ : 0;
    char* const bytes = data_.data();
    std::copy_backward(bytes + before_, bytes + before_ + size, bytes + end_);
    before_ = end_ - size;
  }

  // Goes to the row behind the present one; before() stays.
  bool go_on() {
    if (has_line_) number_ += 1 + lines::line_kernels().count(line().data(), line().size(), format_.terminator());
    begin_ = has_line_ ? end_ + 1 : end_;
    has_line_ = false;
    formats::Inside inside;
    for (std::size_t searched = begin_;;) {
      const char* const found = format_.wants_first_row()
                                    ? format_.find_first_row_end(data_.data() + begin_, data_.data() + data_.size())
                                    : format_.find_end(data_.data() + searched, data_.data() + data_.size(), inside);
      if (found != nullptr) {
        end_ = static_cast<std::size_t>(found - data_.data());
        break;
      }
      searched = data_.size() - marker_.open_bytes();
      const std::size_t moved = before_;
      if (read_more()) {
        searched = format_.begins_anew() ? begin_ : searched - moved;
        continue;
      }
      if (begin_ == data_.size()) {
        end_ = begin_;
        return false;
      }
      complete();
      break;
    }
    has_line_ = true;
    return true;
  }

  bool read_more() {
    if (at_end_) return false;
    if (data_.size() - begin_ > longest_)
      throw NotEnoughMemory(fmt::format("{}: a line is longer than {}", name_, format_bytes(longest_)), longest_,
                            file_.is_plain() ? memory_for_row(name_, passed_ + begin_, format_) : 0);
    data_.erase(data_.begin(), data_.begin() + static_cast<std::ptrdiff_t>(before_));
    passed_ += before_;
    begin_ -= before_;
    before_ = 0;
    const std::size_t size = data_.size();
    data_.resize(size + block_bytes);
    const std::size_t count = file_.read(std::as_writable_bytes(std::span(data_)).subspan(size));
    data_.resize(size + count);
    if (!was_looked_at_ && look_) look_(name_, {data_.data(), data_.size()});
    was_looked_at_ = true;
    at_end_ = count < block_bytes;
    const bool has_open = marker_.open_bytes() > 0;  // which may end a record now
    if (marker_.is_on()) mark_records(count);
    return count > 0 || has_open;
  }

  // In the last bytes, which came just now.
  void mark_records(std::size_t count) {
    const auto fault = marker_.mark(data_.data() + data_.size() - count, count, at_end_);
    if (!fault) return;
    file_.check_rest();
    const auto at = passed_ + static_cast<std::uint64_t>(fault->at - data_.data());
    refused_row(fmt::format("{}: byte {}: {}", formats::shown_name(name_), at, fault->why), {}).blame();
  }

  // The file's last row, which lacks its end.
  void complete() {
    const Text row(data_.data() + begin_, data_.size() - begin_);
    end_ = data_.size();
    if (const auto fault = format_.fault_in(row, true)) refuse(*fault);
    const char terminator = format_.terminator();
    const Text end = format_.begins_anew() ? format_.missing_end(row, '\0') : Text(&terminator, 1);
    data_.insert(data_.end(), end.begin(), end.end());
    end_ = data_.size() - 1;
  }

  const std::string& name_;
  DecodedFile file_;
  formats::RowFormat& format_;
  std::uint64_t longest_;
  const FirstLook& look_;
  formats::RecordMarker marker_;
  bool was_looked_at_ = false;
  std::vector<char> data_;
  std::size_t before_ = 0, begin_ = 0, end_ = 0;
  std::uint64_t number_ = 1, passed_ = 0;  // bytes of the file that are not in `data_` any more
  bool has_line_ = false, at_end_ = false;
};

template <class Format>
void check_row(const Format& format, LineReader& reader, std::vector<formats::KeyCounts>& counts) {
  if constexpr (Format::checks_rows)
    if (const auto fault = format.check_row(reader.line(), counts)) reader.refuse(*fault);
}

template <class Format>
void check_rows(const Format& format, LineReader& reader, const CheckTerms& terms, OrderCheck& result) {
  std::vector<formats::KeyCounts> counts;
  for (; reader.next_of(format, result.hash); ++result.rows) {
    check_row(format, reader, counts);
    if (terms.is_whole) lines::add_line(result.hash, reader.line());
    if (result.rows == 0) continue;
    const int relation = format.compare(reader.before(), reader.line());
    const bool is_double = terms.unique && relation <= 0 && format.are_grouped(relation, reader.before(), reader.line());
    if (count(relation, is_double, result)) continue;
    if (!result.first) result.first = Disorder{reader.number(), std::string(reader.line())};
    if (!terms.is_whole) return;
  }
  format.check_counts(counts, result.rows);
}

}  // namespace

OrderCheck check_order(const CheckedFile& file, formats::RowFormat& format, const CheckTerms& terms, const FirstLook& look) {
  OrderCheck result;
  LineReader reader(file, format, look);
  reader.take_first_rows(result.hash);
  formats::with_format(format, [&](const auto& as_it_is) { check_rows(as_it_is, reader, terms, result); });
  return result;
}

}  // namespace ecosort::engine::rows
