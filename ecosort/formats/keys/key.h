// One sort key of a table: from the text of a value to its place in the order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/text.h"
#include "formats/keys/code.h"
#include "formats/keys/date.h"
#include "formats/keys/key_words.h"
#include "formats/lines/collation.h"
#include "formats/lines/joint_window.h"
#include "formats/lines/key_bytes.h"
#include "formats/lines/number_window.h"
#include "formats/records/encoder.h"

namespace ecosort::keys {

// Says what a value is to a key: `empty` is one that is not there. Those that are empty or unparsable have no order among each
// other.
enum class ValueKind : std::uint8_t { usual, empty, unparsable };

// A value without text, whose data() is null, is not there; with `empty_is_null` one whose text is empty is not there either, but
// for its length. Immutable; thread-safe.
class Key {
 public:
  // `format` may be null: ISO 8601. It outlives this.
  // UsageError for a type whose argument means nothing.
  Key(const ValueKey& key, bool nulls_first, const TimeFormat* format, bool empty_is_null = true);

  // A key whose value is the row as it is.
  [[nodiscard]] static Key of_row(bool nulls_first) { return {ValueKey("", ValueType::text), nulls_first, nullptr, false}; }

  // Bytes depth ... of what orders the value, as RowFormat::window() has it. `kind` is set at depth 0.
  [[nodiscard]] records::KeyWindow window(Text value, std::size_t depth, ValueKind& kind) const {
    if (depth == 0 && read_number_ != nullptr) {
      const lines::NumberWindow number = read_number_(value.data(), value.size());
      if (number.length == value.size() && number.has_digits && !(way_ == Way::integer && number.has_point)) [[likely]] {
        kind = ValueKind::usual;
        return descending_ ? lines::complement(number.window()) : number.window();
      }
    }
    return any_window(value, depth, kind);
  }
  [[nodiscard]] ValueKind kind_of(Text value) const;
  // Says how a window of several keys takes the values, if it does; and adds one to it.
  [[nodiscard]] std::optional<lines::JointWindow::Level> joint_level() const noexcept;
  void add_to(lines::JointWindow& window, Text value, ValueKind& kind) const;
  [[nodiscard]] int compare(Text a, Text b) const;

  // See RowFormat.
  [[nodiscard]] formats::KeyBytes key_bytes() const noexcept {
    return way_ == Way::text || way_ == Way::nocase ? formats::KeyBytes::compared : formats::KeyBytes::made;
  }
  [[nodiscard]] std::size_t common_bytes(Text a, Text b, std::size_t skip) const noexcept {
    return way_ == Way::text ? lines::common_beginning(a, b, skip) : lines::common_folded(a, b, skip);
  }
  [[nodiscard]] bool is_cut(records::KeyWindow window) const noexcept;
  [[nodiscard]] bool has_deeper_window(records::KeyWindow window) const noexcept;

  // The levels that the first window of rows with these keys takes, if they are several.
  [[nodiscard]] static std::vector<lines::JointWindow::Level> joint_levels(const std::vector<Key>& keys);

 private:
  // Says how values are compared: by what the type is, or, `coded`, by the bytes that a coder makes of them.
  enum class Way : std::uint8_t { text, nocase, number, integer, date, version, natural, length, collated, coded };

  [[nodiscard]] static Way way_of(ValueType type) noexcept;
  // Windows of these show what a value is.
  [[nodiscard]] bool is_read() const noexcept { return way_ == Way::number || way_ == Way::integer || way_ == Way::date; }
  [[nodiscard]] bool is_version() const noexcept { return way_ == Way::version || way_ == Way::natural; }
  // Makes the bytes of the value of a coded type, and returns what it is.
  [[nodiscard]] ValueKind code_of(Text value, Code& code) const;
  [[nodiscard]] std::optional<Time> read_time(Text value) const noexcept {
    return format_ != nullptr ? format_->read(value) : read_iso_time(value);
  }
  [[nodiscard]] bool is_there(Text value) const noexcept {
    return !value.empty() || (!empty_is_null_ && value.data() != nullptr);
  }
  [[nodiscard]] records::KeyWindow null_window() const noexcept;
  [[nodiscard]] records::KeyWindow counted(records::KeyWindow window) const noexcept {
    return {window.prefix, descending_ ? window.extension - counts_from_ : window.extension + counts_from_};
  }
  // Makes the window of any value, at any depth.
  [[nodiscard]] records::KeyWindow any_window(Text value, std::size_t depth, ValueKind& kind) const;
  [[nodiscard]] records::KeyWindow number_window(Text value, std::size_t depth, ValueKind& kind) const;
  [[nodiscard]] records::KeyWindow date_window(Text value, std::size_t depth, ValueKind& kind) const;
  [[nodiscard]] records::KeyWindow version_window(Text value, std::size_t depth) const;
  [[nodiscard]] records::KeyWindow coded_window(Text value, std::size_t depth, ValueKind& kind) const;
  [[nodiscard]] records::KeyWindow collated_window(Text value, std::size_t depth, ValueKind& kind) const;
  [[nodiscard]] int compare_codes(Text a, Text b) const;
  [[nodiscard]] int compare_by_windows(Text a, Text b) const;
  [[nodiscard]] int compare_usual(Text a, Text b) const;

  Coder coder_;  // of coded types
  std::optional<lines::Collation> collation_;
  Way way_;
  bool descending_, nulls_first_, empty_is_null_;
  std::uint32_t counts_from_;  // what the last byte of a window has for no bytes: where they may be none, 0 is that of nulls
  lines::NumberReader read_number_;  // of numbers as most of them are; null of other types
  const TimeFormat* format_;
};

}  // namespace ecosort::keys
