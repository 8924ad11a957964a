// JSON lines as a format of rows: one value of JSON in a line, ordered by values within it. The order is stable; lines go out
// byte for byte as they came in.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/jsonl/path.h"
#include "formats/jsonl/read_row.h"
#include "formats/jsonl/value.h"
#include "formats/keys/key.h"
#include "formats/lines/line_kernels.h"
#include "formats/row_format.h"

namespace ecosort::jsonl {

struct JsonlTerms {
  std::vector<ValueKey> keys;                  // at least one; their names are paths
  bool nulls_first = false;                    // values that are missing, null or unparsable: in front of all others
  bool strict = false;                         // an unparsable value is an error, and a name that repeats on the way to a value
  std::string date_format;                     // empty: ISO 8601
  bool allow_missing = false;                  // a path that leads nowhere in all rows is no error
  bool rows_decide_last = false;               // rows with equal keys are ordered by all of their bytes
  std::optional<std::string> count_name = {};  // of the member in front of counted rows
  bool may_repeat = false;                     // names may repeat in rows of another process, which this format has not read
  bool leaves_out_bad_rows = false;
};

class JsonlFormat final : public formats::RowFormat {
 public:
  static constexpr bool checks_rows = true;
  static constexpr bool leaves_out_blank_rows = true;

  // UsageError for terms that cannot be.
  explicit JsonlFormat(const JsonlTerms& terms);

  [[nodiscard]] const char* row_end(const char* at, const char* end, formats::Inside& /*inside*/) const noexcept {
    return kernels_.find(at, end, '\n');
  }
  [[nodiscard]] static bool is_blank(Text row) noexcept { return jsonl::is_blank(row); }

  [[nodiscard]] const JsonlTerms& terms() const noexcept { return terms_; }

  // Takes a row that is no blank one, and returns the window of level 0. Counts the values of all keys; a fault's place counts
  // from the beginning of the row.
  [[nodiscard]] records::KeyWindow take_values(Text row, std::vector<formats::KeyCounts>& counts,
                                               std::optional<formats::RowFault>& fault) const;
  // Nothing where the row is as it should be; then its values are counted.
  [[nodiscard]] std::optional<formats::RowFault> check_row(Text row, std::vector<formats::KeyCounts>& counts) const;
  [[nodiscard]] records::KeyWindow window(Text row) const { return window(row, 0, 0); }

  void enter(lines::LineRun& run, lines::Part& part, lines::DuplicateFilter* seen) const override;
  [[nodiscard]] std::size_t mark_bytes(Text first) const override { return formats::byte_order_mark_bytes(first); }
  [[nodiscard]] std::string_view missing_end(Text row, char before_end) const override {
    return formats::end_like(row, before_end);
  }

  void learn(const std::vector<formats::KeyCounts>& counts) const override;
  void count_in_front(Text row, std::uint64_t rows, formats::CountText& to) const override;
  void check_counts(const std::vector<formats::KeyCounts>& counts, std::uint64_t rows) const override;

  [[nodiscard]] records::KeyWindow window(Text row, unsigned level, std::size_t depth) const override;
  [[nodiscard]] formats::KeyPlace behind_first(records::KeyWindow window) const override {
    return joint_.empty() ? RowFormat::behind_first(window) : lines::JointWindow::behind(window, joint_);
  }
  [[nodiscard]] formats::KeyBytes key_bytes(unsigned level) const override { return keys_[level].key_bytes(); }
  [[nodiscard]] std::size_t common_bytes(Text a, Text b, unsigned level, std::size_t skip) const override;
  [[nodiscard]] bool is_cut(records::KeyWindow window, unsigned level) const override { return keys_[level].is_cut(window); }
  [[nodiscard]] std::optional<std::string> first_value(Text row) const override;
  [[nodiscard]] bool are_first_values_equal(Text a, Text b) const override { return keys_[0].compare(a, b) == 0; }
  [[nodiscard]] bool has_deeper_window(records::KeyWindow window, unsigned level) const override {
    return keys_[level].has_deeper_window(window);
  }

 private:
  [[nodiscard]] int compare_levels(Text a, Text b, unsigned level, unsigned end) const override;
  [[nodiscard]] bool is_row(unsigned level) const noexcept { return level == terms_.keys.size(); }
  // use(value) of a level's key.
  template <class Use>
  decltype(auto) with_value(Text row, unsigned level, const Use& use) const {
    return is_row(level) ? use(row) : use(*JsonValue(find(row, level)));
  }
  void check_countable(Text row, Text member, std::optional<formats::RowFault>& fault) const;
  void count(unsigned level, keys::ValueKind kind, Text row, Text value, std::vector<formats::KeyCounts>& counts,
             std::optional<formats::RowFault>& fault) const;
  void count_repeated(const Repeated& repeated, std::vector<formats::KeyCounts>& counts,
                      std::optional<formats::RowFault>& fault) const;
  [[nodiscard]] Text find(Text row, unsigned level) const {
    return find_value(row, paths_[level], may_repeat_.load(std::memory_order_relaxed));
  }

  const lines::LineKernels& kernels_;
  const JsonlTerms terms_;
  std::vector<Path> paths_;  // one for each key, and that of the count
  std::unique_ptr<const keys::TimeFormat> time_format_;
  std::vector<keys::Key> keys_;  // and one that is the row as it is, where that decides last
  // Set before rows of the part in which a name repeats are compared: until then a search ends at the first name.
  mutable std::atomic<bool> may_repeat_;
  mutable std::once_flag has_sample_;
  mutable std::string sample_;                    // the beginning of a row in which a path leads nowhere
  std::vector<lines::JointWindow::Level> joint_;  // keys whose bytes are in the first window; none where these are of one key
};

}  // namespace ecosort::jsonl
