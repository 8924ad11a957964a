#include "formats/shuffle/shuffle_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "formats/lines/enter_rows.h"

namespace ecosort::shuffle {

int ShuffleFormat::compare_levels(Text a, Text b, unsigned /*level*/, unsigned /*end*/) const {
  const records::KeyWindow x = window(a), y = window(b);
  if (x.prefix != y.prefix) return x.prefix < y.prefix ? -1 : 1;
  return (x.extension > y.extension) - (x.extension < y.extension);
}

namespace {

using formats::RowFault;

// Passes all questions about rows on to their format.
class ShuffledRows final : public ShuffleFormat {
 public:
  ShuffledRows(std::unique_ptr<formats::RowFormat> rows, std::uint64_t seed)
      : ShuffleFormat(seed, rows->terminator(), rows->quote()), rows_(std::move(rows)) {}

  [[nodiscard]] formats::Gather quoted_gather() const override { return rows_->quoted_gather(); }
  void enter(lines::LineRun& run, lines::Part& part, lines::DuplicateFilter* seen) const override {
    rows_->enter(run, part, seen);
  }
  [[nodiscard]] std::size_t mark_bytes(Text first) const override { return rows_->mark_bytes(first); }
  [[nodiscard]] bool wants_first_row() const override { return rows_->wants_first_row(); }
  [[nodiscard]] formats::FirstRow take_first_row(const std::string& input, Text row) override {
    return rows_->take_first_row(input, row);
  }
  [[nodiscard]] bool precedes_first_row(Text line) const override { return rows_->precedes_first_row(line); }
  void begin_input() override { rows_->begin_input(); }
  void go_on_in_input() override { rows_->go_on_in_input(); }
  void miss_first_row(const std::string& input) const override { rows_->miss_first_row(input); }
  [[nodiscard]] std::string_view missing_end(Text row, char before_end) const override {
    return rows_->missing_end(row, before_end);
  }
  [[nodiscard]] std::optional<RowFault> fault_in(Text beginning, bool is_all) const override {
    return rows_->fault_in(beginning, is_all);
  }

 private:
  [[nodiscard]] const char* find_walked_end(const char* at, const char* end, bool& is_inside) const override {
    return rows_->find_end(at, end, is_inside);
  }

  std::unique_ptr<formats::RowFormat> rows_;
};

// Enters the rows of a part one by one: `rows.find_end()` says where each ends.
template <class Rows>
class WalkingFramer {
 public:
  struct Row {
    Text text;
    [[nodiscard]] Text hashed() const noexcept { return {text.data(), text.size() + Rows::hashed_end_bytes}; }
  };

  WalkingFramer(const lines::LineRun& run, const Rows& rows, lines::Part& part)
      : bytes_(run.bytes()), rows_(rows), part_(part), begin_(part.begin) {
    part.has_quotes = true;  // terminators lie inside of rows
  }

  std::size_t next(lines::HashedRow<WalkingFramer>* rows, std::size_t most) {
    std::size_t count = 0;
    while (count < most && begin_ < part_.end) {
      bool is_inside = false;
      const char* const end = rows_.find_end(bytes_ + begin_, bytes_ + part_.end, is_inside);
      if (end == nullptr) break;
      const Text row(bytes_ + begin_, static_cast<std::size_t>(end - bytes_) - begin_);
      begin_ += row.size() + 1;
      if (rows_.is_blank(row))
        leave_out(row);
      else
        rows[count++].row.text = row;
    }
    return count;
  }
  [[nodiscard]] static records::KeyWindow window(const Row& /*row*/) noexcept { return {}; }  // keys come when rows are numbered
  [[nodiscard]] std::size_t end() const noexcept { return begin_; }

 private:
  void leave_out(Text row) noexcept {
    const lines::LineHash hash = lines::line_kernels().hash(row.data(), row.size());
    lines::add(part_.hash, hash);
    lines::drop(part_, row, hash);
    ++part_.lines;
    ++part_.blank_lines;
  }

  const char* bytes_;
  const Rows& rows_;
  lines::Part& part_;
  std::size_t begin_;  // of the next row
};

class ShuffledParagraphs final : public ShuffleFormat {
 public:
  static constexpr std::size_t hashed_end_bytes = 0;

  explicit ShuffledParagraphs(std::uint64_t seed) : ShuffleFormat(seed, '\n', std::nullopt) { is_walked_ = true; }

  void enter(lines::LineRun& run, lines::Part& part, lines::DuplicateFilter* seen) const override {
    WalkingFramer<ShuffledParagraphs> framer(run, *this, part);
    lines::enter_rows(run, framer, part, seen);
  }
  [[nodiscard]] static bool is_blank(Text row) noexcept { return row.empty() || row == "\r"; }

  // The last paragraph may lack its empty line, and even the end of its last line.
  [[nodiscard]] std::string_view missing_end(Text row, char /*before_end*/) const override {
    const bool has_returns = row.find("\r\n") != Text::npos;
    if (row.ends_with('\n') || is_blank(row)) return has_returns ? "\r\n" : "\n";
    if (!has_returns) return "\n\n";
    return row.ends_with('\r') ? "\n\r\n" : "\r\n\r\n";
  }

 private:
  // `at` is the beginning of a paragraph. It ends with an empty line.
  [[nodiscard]] const char* find_walked_end(const char* at, const char* end, bool& /*is_inside*/) const override {
    const lines::LineKernels& kernels = lines::line_kernels();
    for (const char* line = at; line < end;) {
      const char* const line_end = kernels.find(line, end, '\n');
      if (line_end == nullptr || is_blank({line, static_cast<std::size_t>(line_end - line)})) return line_end;
      line = line_end + 1;
    }
    return nullptr;
  }
};

class ShuffledRecords final : public ShuffleFormat {
 public:
  static constexpr std::size_t hashed_end_bytes = 1;

  ShuffledRecords(std::uint64_t record_size, std::uint64_t seed) : ShuffleFormat(seed, '\n', std::nullopt), size_(record_size) {
    is_walked_ = true;
    hashed_end_ = hashed_end_bytes;
  }

  void enter(lines::LineRun& run, lines::Part& part, lines::DuplicateFilter* seen) const override {
    WalkingFramer<ShuffledRecords> framer(run, *this, part);
    lines::enter_rows(run, framer, part, seen);
  }
  [[nodiscard]] static bool is_blank(Text /*row*/) noexcept { return false; }
  [[nodiscard]] std::string_view missing_end(Text /*row*/, char /*before_end*/) const override { return ""; }
  [[nodiscard]] std::optional<RowFault> fault_in(Text beginning, bool is_all) const override {
    if (!is_all) return std::nullopt;
    return RowFault{0, fmt::format("the last {} bytes are no whole record of {} bytes", beginning.size(), size_)};
  }

 private:
  [[nodiscard]] const char* find_walked_end(const char* at, const char* end, bool& /*is_inside*/) const override {
    return static_cast<std::uint64_t>(end - at) < size_ ? nullptr : at + size_ - 1;
  }

  std::uint64_t size_;
};

}  // namespace

std::unique_ptr<formats::RowFormat> shuffled(std::unique_ptr<formats::RowFormat> rows, std::uint64_t seed) {
  return std::make_unique<ShuffledRows>(std::move(rows), seed);
}

std::unique_ptr<formats::RowFormat> shuffled_paragraphs(std::uint64_t seed) { return std::make_unique<ShuffledParagraphs>(seed); }

std::unique_ptr<formats::RowFormat> shuffled_records(std::uint64_t record_size, std::uint64_t seed) {
  return std::make_unique<ShuffledRecords>(record_size, seed);
}

}  // namespace ecosort::shuffle
