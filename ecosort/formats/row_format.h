// The engine for rows asks a format: where rows end, what an input begins with, and the order of rows.
//
// A row ends with one byte, the terminator, which the row's text does not include. In a format with quotes a terminator inside of
// quotes, or behind an escape, ends no row: only who knows whether a byte lies inside can look for an end from there on. Rows
// that begin anew hold terminators for other reasons, and their ends are found from the beginning of a row on alone.
//
// The virtual functions are called once per input, per part of a batch, or per group of ties. The loops over all rows are
// compiled for each format: enter_rows() (formats/lines/enter_rows.h) and the merge (formats/all/each_format.h) call what every
// format has besides, without a virtual call:
//
//   row_end(at, end, inside)   as find_end()
//   window(row)                   of level 0, from its beginning
//   Framer                        takes the rows of a part one after the other
//   check_row(row, counts)        a row of a file that is merged as it is; only where `checks_rows`
//   is_blank(row)                 a row that holds nothing and is left out; only where `leaves_out_blank_rows`
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "ecosort/request.hpp"
#include "formats/inside.h"
#include "formats/record_marks.h"
#include "formats/records/encoder.h"

namespace ecosort {
class ByteReader;
}
namespace ecosort::lines {
struct GatherTask;
struct LineRun;
struct Part;
class DuplicateFilter;
}  // namespace ecosort::lines

namespace ecosort::formats {

// Says what happens to a row that an input begins with. `is_alike`: all inputs begin with such rows, byte for byte the same, and
// those of the first input go on top. `is_comment`: it is left out, and counted.
enum class FirstRow : std::uint8_t { is_sorted, goes_on_top, is_left_out, is_alike, is_comment };

// A row that cannot be sorted: where, from the beginning of its text or of the text that it is in, and why.
struct RowFault {
  std::size_t at = 0;
  std::string why;
  bool is_of_quotes = false;  // there is none where quotes mean nothing
  std::string delimiter{};    // there may be none with this one
};

// A row that was left out because it cannot be sorted. The first ones of a batch say why; places count as in RowFault.
struct BadRow {
  std::size_t begin = 0, end = 0;  // with its end
  std::optional<RowFault> fault;
};
inline constexpr std::size_t most_bad_rows = 4096;  // of a batch, which then ends
inline constexpr std::size_t named_bad_rows = 10;

// The name of an input as a message has it.
[[nodiscard]] std::string shown_name(const std::string& input);

// Bytes of the UTF-8 byte order mark that the text begins with, or 0.
[[nodiscard]] std::size_t byte_order_mark_bytes(Text first) noexcept;
// An end for the row, LF or CR LF: as the one of the row before, whose last byte is `before_end`.
[[nodiscard]] std::string_view end_like(Text row, char before_end) noexcept;

// Says how a format knows the bytes of a level's key that windows show.
enum class KeyBytes : std::uint8_t {
  of_row,    // the key is the row as it is: byte `depth` of it is byte `depth` of the row
  compared,  // common_bytes() says in one look how many bytes two keys share
  made,      // the bytes are made from the key, and only the windows show them
};

// Values of a key that have no place among the others.
struct KeyCounts {
  std::uint64_t empty = 0, unparsable = 0;
  std::uint64_t absent = 0;    // of the empty ones: the row has no such value, not even null
  std::uint64_t repeated = 0;  // rows in which a name on the way to the value repeats
};

void add(std::vector<KeyCounts>& sum, const std::vector<KeyCounts>& more);
void subtract(std::vector<KeyCounts>& sum, const std::vector<KeyCounts>& less);

// Takes the values of a row out of `counts`, which `count(counts, fault)` has added.
template <class Count>
void uncount(std::vector<KeyCounts>& counts, const Count& count) {
  std::vector<KeyCounts> of_row(counts.size());
  std::optional<RowFault> fault;
  count(of_row, fault);
  subtract(counts, of_row);
}

// Rows of the inputs that equal the header, and where the first of them is.
struct RepeatedHeader {
  std::uint64_t rows = 0;
  std::string input;
  std::uint64_t line = 0;
};

void add(RepeatedHeader& sum, const RepeatedHeader& more);
// Returns what to say of them, or nothing.
[[nodiscard]] std::string notice_of(const RepeatedHeader& repeated);

// Says where the keys of some rows may differ first: bytes of the key of a level that are behind `depth`.
struct KeyPlace {
  unsigned level = 0;
  std::size_t depth = 0;
};

// Goes in front of a row that is counted, in the place of its first bytes, `replaced` of them: at most as many as `text` has.
struct CountText {
  std::string text;
  std::size_t replaced = 0;
};

// Copies rows in the order of their entries (formats/lines/line_kernels.h).
using Gather = std::size_t (*)(const lines::GatherTask& task, std::uint32_t* sizes) noexcept;

// Immutable but for take_first_row(), and thread-safe.
class RowFormat {
 public:
  // Bytes of a key in a window; its last byte is one more where the key continues.
  static constexpr std::uint32_t window_bytes = 11;

  RowFormat(const RowFormat&) = delete;
  RowFormat& operator=(const RowFormat&) = delete;
  virtual ~RowFormat() = default;

  [[nodiscard]] Format format() const noexcept { return format_; }

  // The order as it was made, whatever was learned of inputs since, as a run keeps it (FORMAT.md); equal bytes are the same
  // order. Empty: its runs end with the process. A class that has some makes a format of them, for runs whose header has so many
  // lines:
  //
  //   static constexpr Format kept_as = Format::csv;
  //   static std::unique_ptr<Self> of_order_bytes(ByteReader& in, std::uint64_t header_lines);
  [[nodiscard]] virtual std::vector<std::byte> order_bytes() const;

  // Framing.
  [[nodiscard]] char terminator() const noexcept { return terminator_; }
  [[nodiscard]] std::optional<char> quote() const noexcept { return quote_; }
  [[nodiscard]] std::optional<char> escape() const noexcept { return escape_; }

  // Returns whether a row may hold terminators.
  [[nodiscard]] bool is_walked() const noexcept { return is_walked_; }
  // Returns whether the ends of rows show from their beginnings on alone, so that a search for one never goes on in the middle.
  [[nodiscard]] bool begins_anew() const noexcept { return is_walked_ && !quote_ && !escape_; }

  // Null: rows end in memory as in their files.
  [[nodiscard]] const RecordMarks* record_marks() const noexcept { return record_marks_ ? &*record_marks_ : nullptr; }
  // Rows are such records. Before rows are read.
  void mark_records(RecordMarks marks) { record_marks_.emplace(std::move(marks)); }

  // Returns how many bytes behind its text a row is hashed with: 1 where its last byte is in the place of an end.
  [[nodiscard]] std::size_t hashed_end() const noexcept { return hashed_end_; }

  // The first end of a row in [at, end), or null. `inside`: what `at` lies inside of; afterwards, where none is found, `end`.
  [[nodiscard]] const char* find_end(const char* at, const char* end, Inside& inside) const {
    if (is_walked_) return find_walked_end(at, end, inside);
    return at == end ? nullptr : static_cast<const char*>(std::memchr(at, terminator_, static_cast<std::size_t>(end - at)));
  }
  // For rows with quotes.
  [[nodiscard]] virtual Gather quoted_gather() const;
  // Returns whether rows that cannot be sorted are left out, as lines::Part::bad_rows; else the first one ends the sort.
  [[nodiscard]] bool leaves_out_bad_rows() const noexcept { return leaves_out_bad_rows_; }
  // Returns whether the bytes, which begin where a row may, only hold lines that are no rows where they end an input.
  [[nodiscard]] virtual bool is_blank_end(Text rest) const;

  // Enters the rows of a part of a run into its index, as many as it has places for. `seen` may be null.
  virtual void enter(lines::LineRun& run, lines::Part& part, lines::DuplicateFilter* seen) const = 0;

  // Returns how much an input begins with that is no row: bytes of `first`, which holds its first bytes, at least most_mark_bytes
  // unless it has fewer.
  static constexpr std::size_t most_mark_bytes = 3;
  [[nodiscard]] virtual std::size_t mark_bytes(Text first) const;
  // Returns whether take_first_row() wants the next row of an input of which it has taken all rows before, and only these.
  [[nodiscard]] virtual bool wants_first_row() const;
  // The end of the row that is to be given to take_first_row(), or null.
  [[nodiscard]] virtual const char* find_first_row_end(const char* at, const char* end) const;
  // The next row of the input, in the order of the inputs. UsageError for one that does not suit.
  [[nodiscard]] virtual FirstRow take_first_row(const std::string& input, Text row);
  // Returns whether rows can be compared only when a first row was taken, so that a job that continues without it keeps it.
  [[nodiscard]] virtual bool keys_need_first_row() const;
  // Returns whether the first line of an input only says how to read the others, as in "sep=;": the first row comes behind it,
  // and take_first_row() takes the two one after the other, or at once.
  [[nodiscard]] virtual bool precedes_first_row(Text line) const;
  // The next row is the first one of another input.
  virtual void begin_input();
  // The next row is one in the middle of an input, whose first row was taken.
  virtual void go_on_in_input();
  // The input ends before the row that take_first_row() wants. May be a UsageError.
  virtual void miss_first_row(const std::string& input) const;

  // The last row of an input lacks its end: what is to be put there. `before_end`: the last byte of the row before, 0 if there is
  // none.
  [[nodiscard]] virtual std::string_view missing_end(Text row, char before_end) const;
  // Why the beginning of a row, which the input or the memory ends, cannot be one; nothing if it can.
  [[nodiscard]] virtual std::optional<RowFault> fault_in(Text beginning, bool is_all) const;

  // Learns from counts of rows that another process has read.
  virtual void learn(const std::vector<KeyCounts>& counts) const;
  // All inputs were read, which have so many rows. InputRefused where a key can be no key of these rows.
  virtual void check_counts(const std::vector<KeyCounts>& counts, std::uint64_t rows) const;

  // Formats whose keys have names: the value of the first key, as text; nothing where it is missing, or is not what the key says.
  [[nodiscard]] virtual std::optional<std::string> first_value(Text row) const;
  [[nodiscard]] virtual bool are_first_values_equal(Text a, Text b) const;

  // Returns whether the key of level 0 is the row as it is, so that rows are equal only if their bytes are.
  [[nodiscard]] bool rows_are_keys() const noexcept { return rows_are_keys_; }

  // Order. A row has levels, each with a key; rows that are equal in one are compared in the next.
  [[nodiscard]] unsigned levels() const noexcept { return levels_; }

  // a before b: negative; 0: equal in all levels from `level` on.
  [[nodiscard]] int compare(Text a, Text b, unsigned level = 0) const {
    if (!rows_are_keys_ || level > 0) return compare_levels(a, b, level, levels_);
    const int order = a.compare(b);
    return flip_ != 0 ? -((order > 0) - (order < 0)) : order;
  }

  // Returns whether the keys of one level are equal.
  [[nodiscard]] bool are_keys_equal(Text a, Text b, unsigned level) const { return compare_levels(a, b, level, level + 1) == 0; }

  // Groups of equal rows: those that agree in all levels, or in the first ones alone. Before rows are compared.
  void group_by_first(unsigned levels) noexcept { group_levels_ = levels; }
  [[nodiscard]] bool groups_by_all() const noexcept { return group_levels_ >= levels_; }
  // Returns whether two rows are of one group, whose `order` compare() gave.
  [[nodiscard]] bool are_grouped(int order, Text a, Text b) const {
    return order == 0 || (!groups_by_all() && compare_groups(a, b) == 0);
  }
  // Compare rows by the first levels, where these make groups, and two rows of one group by the others.
  [[nodiscard]] int compare_groups(Text a, Text b) const { return compare_levels(a, b, 0, group_levels_); }
  [[nodiscard]] int compare_in_group(Text a, Text b) const { return compare_levels(a, b, group_levels_, levels_); }
  // Says how many rows the group of the row has.
  virtual void count_in_front(Text row, std::uint64_t rows, CountText& to) const;
  // Returns what stays on top where rows are counted.
  [[nodiscard]] virtual std::string top_of_counted(const std::string& top) const;

  [[nodiscard]] virtual records::KeyWindow window(Text row, unsigned level, std::size_t depth) const = 0;

  // Returns where rows with this first window, that of level 0 and depth 0, may differ; level levels() if nowhere. A first window
  // may hold bytes of several keys.
  [[nodiscard]] virtual KeyPlace behind_first(records::KeyWindow window) const {
    return is_cut(window, 0) ? KeyPlace{0, window_bytes} : KeyPlace{1, 0};
  }

  [[nodiscard]] virtual KeyBytes key_bytes(unsigned level) const = 0;
  // Returns whether the larger row comes first; only of a key that is KeyBytes::of_row.
  [[nodiscard]] virtual bool descends(unsigned level) const;
  // Bytes of the level's key in which a and b agree, of which `skip` are known to agree. Only of keys that are
  // KeyBytes::compared.
  [[nodiscard]] virtual std::size_t common_bytes(Text a, Text b, unsigned level, std::size_t skip) const = 0;

  // Returns whether keys with this window may differ; otherwise a tie continues at the next level.
  [[nodiscard]] virtual bool is_cut(records::KeyWindow window, unsigned level) const = 0;
  // Returns whether a deeper window may show where they differ; otherwise only the comparison does.
  [[nodiscard]] virtual bool has_deeper_window(records::KeyWindow window, unsigned level) const = 0;

 protected:
  RowFormat(Format format, char terminator, std::optional<char> quote, std::optional<char> escape = std::nullopt)
      : is_walked_(quote || escape), format_(format), terminator_(terminator), quote_(quote), escape_(escape) {}

  bool is_walked_;
  std::size_t hashed_end_ = 0;
  unsigned levels_ = 0;
  bool rows_are_keys_ = false;  // level 0 is the row as it is
  bool leaves_out_bad_rows_ = false;
  std::uint64_t flip_ = 0;  // all ones: and the larger one comes first

 private:
  [[nodiscard]] virtual const char* find_walked_end(const char* at, const char* end, Inside& inside) const;
  // Compares by the levels [level, end).
  [[nodiscard]] virtual int compare_levels(Text a, Text b, unsigned level, unsigned end) const = 0;

  Format format_;
  char terminator_;
  std::optional<char> quote_, escape_;
  unsigned group_levels_ = UINT_MAX;
  std::optional<RecordMarks> record_marks_;
};

}  // namespace ecosort::formats
