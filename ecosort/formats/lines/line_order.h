// The order of lines: sort keys cut from lines, compared one after the other, and 12-byte windows of them for the radix sort.
//
// Every key of a line is a text of normal bytes: plain bytes, bytes after -d, -i and -f, a number encoded so that bytes order it.
// Window `depth` of a key holds its bytes depth ... depth+10 and, last, how many bytes there are from `depth` on, at most 12. So
// that "a" comes before "a\0", and that equal windows with a count below 12 mean equal keys. A reversed key's window is
// complemented. The last resort, the whole line, is a level like the keys. Windows of versions say otherwise what follows them,
// see version_window.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/lines/collation.h"
#include "formats/lines/joint_window.h"
#include "formats/lines/key_bytes.h"
#include "formats/lines/line_kernels.h"
#include "formats/lines/md5.h"
#include "formats/lines/number_window.h"
#include "formats/lines/row_bytes.h"
#include "formats/lines/text.h"
#include "formats/lines/version_window.h"
#include "formats/records/encoder.h"
#include "formats/row_format.h"

namespace ecosort::lines {

enum class KeyKind : std::uint8_t { text, numeric, general, human, month, random, version, collated };
enum class Ignored : std::uint8_t { nothing, all_but_dictionary, unprintable };  // -d wins over -i

// One -k, or the whole line. Words and characters count from 0.
struct SortKey {
  std::size_t begin_field = 0, begin_char = 0;
  std::size_t end_field = whole_line, end_char = 0;  // end_char 0: up to the end of end_field
  bool skip_begin_blanks = false, skip_end_blanks = false;
  KeyKind kind = KeyKind::text;
  Ignored ignored = Ignored::nothing;
  bool fold = false, reverse = false;

  static constexpr std::size_t whole_line = SIZE_MAX;
  [[nodiscard]] bool is_whole_line() const noexcept {
    return begin_field == 0 && begin_char == 0 && end_field == whole_line && !skip_begin_blanks;
  }
  [[nodiscard]] bool is_one_field() const noexcept {
    return begin_field == end_field && begin_char == 0 && end_char == 0 && !skip_begin_blanks;
  }
};

struct LineOrderTerms {
  std::vector<SortKey> keys;  // none: the whole line
  bool last_resort = true;    // lines with equal keys are ordered by all of their bytes (not with -s and -u)
  bool reverse = false;       // of the last resort
  std::optional<char> separator;
  Digest salt{};                         // of -R
  std::optional<Collation> collation{};  // of keys that are collated
};

// The first `lines` of each input are its header, or those that begin with the mark, up to the first one that does not. All
// headers are alike, and one stays on top.
struct HeaderLines {
  std::uint64_t lines = 0;
  std::string mark{};
};

// Lines as a format of rows: without quotes. Immutable but for the lines on top; all other functions are thread-safe.
class LineOrder final : public formats::RowFormat {
 public:
  static constexpr Format kept_as = Format::lines;
  static constexpr bool checks_rows = false;
  static constexpr bool leaves_out_blank_rows = false;

  explicit LineOrder(const LineOrderTerms& terms, char terminator = '\n', HeaderLines header = {});
  [[nodiscard]] static std::unique_ptr<LineOrder> of_order_bytes(ByteReader& in, std::uint64_t header_lines);

  [[nodiscard]] const SortKey& key(unsigned level) const noexcept { return keys_[level]; }
  [[nodiscard]] std::optional<char> separator() const noexcept { return separator_; }
  [[nodiscard]] const Digest& salt() const noexcept { return salt_; }
  [[nodiscard]] const std::optional<Collation>& collation() const noexcept { return collation_; }
  // Return where the level's key begins and ends in the line; it is empty where it ends before it begins.
  [[nodiscard]] std::size_t key_begin(Text line, unsigned level) const noexcept { return key_begin(line, keys_[level]); }
  [[nodiscard]] std::size_t key_end(Text line, unsigned level) const noexcept { return key_end(line, keys_[level]); }

  [[nodiscard]] const char* row_end(const char* at, const char* end, formats::Inside& /*inside*/) const noexcept {
    return kernels_.find(at, end, terminator());
  }
  // Returns the end of the row at `at`, which has line_slack_bytes behind it, and enters its window, in one look at its bytes.
  // Null: it is no plain number, where numbers are the key, or no text that its window holds, or does not end before `end`.
  [[nodiscard]] const char* plain_row_end(const char* at, const char* end, records::KeyWindow& window) const noexcept {
    if (rows_are_numbers_) return number_end(at, end, window);
    if (!rows_are_keys_) return nullptr;
    window = row_bytes_.window(at);
    const std::size_t size = row_bytes_.size_in(window.extension);
    return size <= window_bytes && size < static_cast<std::size_t>(end - at) ? at + size : nullptr;
  }
  [[nodiscard]] records::KeyWindow window(Text line) const {
    if (!rows_are_keys_) return window(line, 0, 0);
    return text_window(line, flip_);
  }

  [[nodiscard]] std::vector<std::byte> order_bytes() const override;
  void enter(LineRun& run, Part& part, DuplicateFilter* seen) const override;
  [[nodiscard]] bool wants_first_row() const override { return header_left_ > 0 || may_be_marked_; }
  [[nodiscard]] formats::FirstRow take_first_row(const std::string& input, Text row) override;
  void begin_input() override {
    header_left_ = header_.lines;
    may_be_marked_ = !header_.mark.empty();
  }
  void go_on_in_input() override {
    header_left_ = 0;
    may_be_marked_ = false;
  }
  [[nodiscard]] records::KeyWindow window(Text line, unsigned level, std::size_t depth) const override;
  [[nodiscard]] formats::KeyPlace behind_first(records::KeyWindow window) const override {
    return joint_.empty() ? RowFormat::behind_first(window) : JointWindow::behind(window, joint_);
  }
  [[nodiscard]] formats::KeyBytes key_bytes(unsigned level) const noexcept override;
  [[nodiscard]] bool descends(unsigned level) const noexcept override { return keys_[level].reverse; }
  [[nodiscard]] std::size_t common_bytes(Text a, Text b, unsigned level, std::size_t skip) const noexcept override;
  // Compares by the levels [level, end) alone.
  [[nodiscard]] int compare_some(Text a, Text b, unsigned level, unsigned end) const { return compare_levels(a, b, level, end); }
  [[nodiscard]] bool is_cut(records::KeyWindow window, unsigned level) const noexcept override {
    if (keys_[level].kind == KeyKind::version) return version_rest(window, level) != VersionRest::nothing;
    return last_byte(window, level) > window_bytes;
  }
  [[nodiscard]] bool has_deeper_window(records::KeyWindow window, unsigned level) const noexcept override {
    if (keys_[level].kind == KeyKind::collated) return Collation::has_more_weights(last_byte(window, level));
    return keys_[level].kind != KeyKind::version || version_rest(window, level) != VersionRest::by_compare;
  }

 private:
  [[nodiscard]] unsigned char last_byte(records::KeyWindow window, unsigned level) const noexcept {
    const auto byte = static_cast<unsigned char>(window.extension);
    return keys_[level].reverse ? static_cast<unsigned char>(~byte) : byte;
  }
  [[nodiscard]] VersionRest version_rest(records::KeyWindow window, unsigned level) const noexcept {
    return static_cast<VersionRest>(last_byte(window, level));
  }
  [[nodiscard]] Text key_of(Text line, const SortKey& key) const noexcept;
  [[nodiscard]] std::size_t key_begin(Text line, const SortKey& key) const noexcept;
  [[nodiscard]] std::size_t key_end(Text line, const SortKey& key) const noexcept;
  [[nodiscard]] int compare_levels(Text a, Text b, unsigned level, unsigned end) const override;
  [[nodiscard]] int compare_key(Text a, Text b, const SortKey& key) const;
  [[nodiscard]] int compare_kind(Text a, Text b, const SortKey& key) const;
  [[nodiscard]] int compare_random(Text a, Text b) const noexcept;
  [[nodiscard]] std::optional<records::KeyWindow> usual_window(Text line, const SortKey& key) const noexcept;
  [[nodiscard]] const char* number_end(const char* at, const char* end, records::KeyWindow& window) const noexcept;
  void add_number(Text text, bool descends, JointWindow& to) const;
  [[nodiscard]] records::KeyWindow joint_window(Text line) const;
  [[nodiscard]] std::size_t normal_bytes(Text text, const SortKey& key, std::size_t depth, unsigned char* to) const;

  std::vector<SortKey> keys_;
  std::vector<JointWindow::Level> joint_;  // keys whose bytes are in the first window; none where these are of one key
  std::optional<char> separator_;
  RowBytes row_bytes_{terminator(), 0};
  NumberReader read_number_ = number_reader();
  bool rows_are_numbers_ = false;  // the first key is a number that begins the row, and all that its window is made of
  Digest salt_;
  std::optional<Collation> collation_;
  const LineKernels& kernels_;
  HeaderLines header_;
  std::uint64_t header_left_ = 0;  // of the present input
  bool may_be_marked_ = false;     // the next line of it
};

// Null where rows are no lines, or no single ones.
[[nodiscard]] inline const LineOrder* as_line_order(const formats::RowFormat& format) noexcept {
  return dynamic_cast<const LineOrder*>(&format);
}

}  // namespace ecosort::lines
