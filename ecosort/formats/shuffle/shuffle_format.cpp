#include "formats/shuffle/shuffle_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "formats/lines/walking_framer.h"

namespace ecosort::shuffle {

int ShuffleFormat::compare_levels(Text a, Text b, unsigned /*level*/, unsigned /*end*/) const {
  const records::KeyWindow x = window(a), y = window(b);
  return (x > y) - (x < y);
}

namespace {

using formats::RowFault;

// Passes all questions about rows on to their format.
class ShuffledRows final : public ShuffleFormat {
 public:
  ShuffledRows(std::unique_ptr<formats::RowFormat> rows, std::uint64_t seed)
      : ShuffleFormat(seed, rows->format(), rows->terminator(), rows->quote(), rows->escape()), rows_(std::move(rows)) {
    if (const formats::RecordMarks* const marks = rows_->record_marks()) mark_records(*marks);
  }

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
  [[nodiscard]] const char* find_walked_end(const char* at, const char* end, formats::Inside& inside) const override {
    return rows_->find_end(at, end, inside);
  }

  std::unique_ptr<formats::RowFormat> rows_;
};

class ShuffledLineGroups final : public ShuffleFormat {
 public:
  static constexpr std::size_t hashed_end_bytes = 0;

  ShuffledLineGroups(lines::LineGroups groups, std::uint64_t seed)
      : ShuffleFormat(seed, Format::lines, '\n', std::nullopt), groups_(groups) {
    is_walked_ = true;
  }

  void enter(lines::LineRun& run, lines::Part& part, lines::DuplicateFilter* seen) const override {
    lines::WalkingFramer<ShuffledLineGroups> framer(run, *this, part);
    lines::enter_rows(run, framer, part, seen);
  }
  [[nodiscard]] bool is_blank(Text row) const noexcept { return groups_.is_blank(row); }
  [[nodiscard]] static records::KeyWindow entry_window(Text /*row*/) noexcept { return {}; }  // comes when rows are numbered
  [[nodiscard]] std::string_view missing_end(Text row, char /*before_end*/) const override { return groups_.missing_end(row); }
  [[nodiscard]] std::optional<RowFault> fault_in(Text beginning, bool is_all) const override {
    return groups_.fault_in(beginning, is_all);
  }

 private:
  [[nodiscard]] const char* find_walked_end(const char* at, const char* end, formats::Inside& /*inside*/) const override {
    return groups_.find_end(at, end);
  }

  lines::LineGroups groups_;
};

class ShuffledRecords final : public ShuffleFormat {
 public:
  static constexpr std::size_t hashed_end_bytes = 1;

  ShuffledRecords(std::uint64_t record_size, std::uint64_t seed) : ShuffleFormat(seed, Format::records, '\n', std::nullopt) {
    is_walked_ = true;
    row_bytes_ = record_size;
    hashed_end_ = hashed_end_bytes;
  }

  void enter(lines::LineRun& run, lines::Part& part, lines::DuplicateFilter* seen) const override {
    lines::WalkingFramer<ShuffledRecords> framer(run, *this, part);
    lines::enter_rows(run, framer, part, seen);
  }
  [[nodiscard]] static bool is_blank(Text /*row*/) noexcept { return false; }
  [[nodiscard]] static records::KeyWindow entry_window(Text /*row*/) noexcept { return {}; }
  [[nodiscard]] std::string_view missing_end(Text /*row*/, char /*before_end*/) const override { return ""; }
  [[nodiscard]] std::optional<RowFault> fault_in(Text beginning, bool is_all) const override {
    if (!is_all) return std::nullopt;
    return RowFault{0, fmt::format("the last {} bytes are no whole record of {} bytes", beginning.size(), row_bytes_)};
  }

 private:
  [[nodiscard]] const char* find_walked_end(const char* at, const char* end, formats::Inside& /*inside*/) const override {
    return static_cast<std::uint64_t>(end - at) < row_bytes_ ? nullptr : at + row_bytes_ - 1;
  }
};

}  // namespace

std::unique_ptr<formats::RowFormat> shuffled(std::unique_ptr<formats::RowFormat> rows, std::uint64_t seed) {
  return std::make_unique<ShuffledRows>(std::move(rows), seed);
}

std::unique_ptr<formats::RowFormat> shuffled_line_groups(lines::LineGroups groups, std::uint64_t seed) {
  return std::make_unique<ShuffledLineGroups>(groups, seed);
}

std::unique_ptr<formats::RowFormat> shuffled_records(std::uint64_t record_size, std::uint64_t seed) {
  return std::make_unique<ShuffledRecords>(record_size, seed);
}

}  // namespace ecosort::shuffle
