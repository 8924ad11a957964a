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
#include "formats/keys/code.h"
#include "formats/keys/value_format.h"
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

class JsonlFormat final : public keys::ValueFormat<JsonlFormat> {
 public:
  static constexpr Format kept_as = Format::jsonl;
  static constexpr bool checks_rows = true;
  static constexpr bool leaves_out_blank_rows = true;

  // UsageError for terms that cannot be.
  explicit JsonlFormat(const JsonlTerms& terms);
  [[nodiscard]] static std::unique_ptr<JsonlFormat> of_order_bytes(ByteReader& in, std::uint64_t header_lines);

  [[nodiscard]] const char* row_end(const char* at, const char* end, formats::Inside& /*inside*/) const noexcept {
    return kernels_.find(at, end, '\n');
  }
  [[nodiscard]] static bool is_blank(Text row) noexcept { return jsonl::is_blank(row); }

  // Takes a row that is no blank one, and returns the window of level 0. Counts the values of all keys; a fault's place counts
  // from the beginning of the row.
  [[nodiscard]] records::KeyWindow take_values(Text row, std::vector<formats::KeyCounts>& counts,
                                               std::optional<formats::RowFault>& fault) const;
  // Nothing where the row is as it should be; then its values are counted.
  [[nodiscard]] std::optional<formats::RowFault> check_row(Text row, std::vector<formats::KeyCounts>& counts) const;

  [[nodiscard]] std::vector<std::byte> order_bytes() const override;
  void enter(lines::LineRun& run, lines::Part& part, lines::DuplicateFilter* seen) const override;
  [[nodiscard]] std::size_t mark_bytes(Text first) const override { return formats::byte_order_mark_bytes(first); }
  [[nodiscard]] std::string_view missing_end(Text row, char before_end) const override {
    return formats::end_like(row, before_end);
  }

  void learn(const std::vector<formats::KeyCounts>& counts) const override;
  void count_in_front(Text row, std::uint64_t rows, formats::CountText& to) const override;
  void check_counts(const std::vector<formats::KeyCounts>& counts, std::uint64_t rows) const override;

 private:
  friend ValueFormat;

  template <class Use>
  decltype(auto) with_value(Text row, unsigned level, const Use& use) const {
    return use(*JsonValue(find(row, level), has_comma(level)));
  }
  [[nodiscard]] bool has_comma(unsigned level) const { return keys::has_decimal_comma(terms_.keys[level]); }
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
  // Set before rows of the part in which a name repeats are compared: until then a search ends at the first name.
  mutable std::atomic<bool> may_repeat_;
  mutable std::once_flag has_sample_;
  mutable std::string sample_;  // the beginning of a row in which a path leads nowhere
};

}  // namespace ecosort::jsonl
