#include "formats/jsonl/read_row.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "base/utf8.h"
#include "formats/jsonl/names.h"
#include "formats/jsonl/text_steps.h"

namespace ecosort::jsonl {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_hex_digit(char c) noexcept { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Reads the line from its beginning to its end. What takes a value returns false when something is wrong, and fault() says what.
// A set of paths is a word with a bit for each. Objects and arrays that are open are a list, not calls within calls: a thread's
// stack holds as many as there may be, whatever the line is.
class RowReader {
 public:
  RowReader(Text row, const std::vector<Path>& paths, Text* values, Repeated& repeated)
      : begin_(row.data()), at_(begin_), end_(begin_ + row.size()), paths_(paths), values_(values), repeated_(repeated) {}

  bool read() {
    for (std::size_t i = 0; i < paths_.size(); ++i) values_[i] = {};
    skip_white();
    std::uint64_t paths = (std::uint64_t{1} << paths_.size()) - 1;
    do {
      if (!begin_value(paths)) return false;
    } while (reach_value(paths));
    if (has_failed_) return false;
    skip_white();
    return at_ == end_ || fail("something follows the value; a line holds one");
  }
  [[nodiscard]] formats::RowFault& fault() noexcept { return fault_; }

 private:
  void skip_white() noexcept {
    if (at_ != end_ && is_white(*at_)) at_ = behind_white(at_, end_);
  }
  [[nodiscard]] bool is_at(char c) const noexcept { return at_ != end_ && *at_ == c; }

  bool fail(const char* why) { return fail_at(at_, why); }
  bool fail_at(const char* where, const char* why) {
    fault_ = {static_cast<std::size_t>(where - begin_), why};
    has_failed_ = true;
    return false;
  }

  // An object or an array whose end has not come.
  struct Open {
    const char* begin;
    std::uint64_t ending;  // paths that lead to it
    std::uint64_t paths;   // paths that lead into it
    std::uint64_t came;    // of these: paths whose member came already
    std::uint64_t marks;   // of the names that its paths look for
    std::size_t place;     // of its present element
    bool is_object;
    bool is_empty;  // so far
  };

  // Takes the value here, of an object or an array only what opens it. As many steps of `paths` lead here as there are open ones.
  bool begin_value(std::uint64_t paths) {
    if (at_ == end_) return fail("the line ends where a value is wanted");
    const char* const begin = at_;
    const std::uint64_t ending = paths == 0 ? 0 : paths_that_end(paths, depth_);
    if (*begin == '{' || *begin == '[') return open({begin, ending, paths & ~ending, 0, 0, 0, *begin == '{', true});
    if (!take_one()) return false;
    if (ending != 0) note(ending, Text(begin, *begin == 'n' ? 0 : static_cast<std::size_t>(at_ - begin)));
    return true;
  }

  bool open(const Open& value) {
    if (depth_ == most_depth) return fail("objects and arrays are nested deeper than 1024");
    Open& last = open_[depth_] = value;
    for (std::uint64_t left = last.is_object ? last.paths : 0; left != 0; left &= left - 1) {
      const std::string& name = paths_[lowest(left)].steps[depth_].name;
      last.marks |= mark_of(name.c_str(), name.size());
    }
    ++depth_;
    ++at_;
    return true;
  }

  // One bit of 64: names with different ones are different.
  [[nodiscard]] static std::uint64_t mark_of(const char* name, std::size_t size) noexcept {
    const std::size_t first = size == 0 ? 0 : static_cast<unsigned char>(*name);
    return std::uint64_t{1} << ((first * 7 + size) % 64U);
  }

  // Goes on to the next value, and says which paths lead there. False: no value follows, or something is wrong.
  bool reach_value(std::uint64_t& paths) {
    while (depth_ > 0) {
      Open& last = open_[depth_ - 1];
      skip_white();
      if (!is_at(last.is_object ? '}' : ']')) return reach_next_in(last, paths);
      ++at_;
      if (last.ending != 0) note(last.ending, Text(last.begin, static_cast<std::size_t>(at_ - last.begin)));
      --depth_;
    }
    return false;
  }

  bool reach_next_in(Open& last, std::uint64_t& paths) {
    if (last.is_empty) {
      last.is_empty = false;
    } else {
      if (!is_at(','))
        return fail(last.is_object ? "a comma, or a brace that closes the object, is wanted here"
                                   : "a comma, or a bracket that closes the array, is wanted here");
      ++at_;
      skip_white();
      ++last.place;
    }
    if (last.is_object) return take_name(last, paths);
    paths = last.paths == 0 ? 0 : that_lead_to(last.paths, depth_ - 1, last.place);
    return true;
  }

  bool take_name(Open& object, std::uint64_t& paths) {
    const char* const name = at_;
    if (!is_at('"')) return fail("a name in double quotes is wanted here");
    has_escape_ = false;
    if (!take_string()) return false;
    const Text raw(name + 1, static_cast<std::size_t>(at_ - name) - 2);
    paths = 0;
    if ((object.marks & mark_of(raw.data(), raw.size())) != 0 || (has_escape_ && object.paths != 0)) {
      paths = that_lead_to(object.paths, depth_ - 1, raw);
      if ((object.came & paths) != 0) [[unlikely]]
        forget(object.came & paths, name);
      object.came |= paths;
    }
    skip_white();
    if (!is_at(':')) return fail("a colon is wanted behind a name");
    ++at_;
    skip_white();
    return true;
  }

  bool take_one() {
    switch (*at_) {
      case '"':
        return take_string();
      case 't':
        return take_word("true");
      case 'f':
        return take_word("false");
      case 'n':
        return take_word("null");
      default:
        return take_number();
    }
  }

  [[nodiscard]] std::uint64_t paths_that_end(std::uint64_t paths, unsigned depth) const noexcept {
    std::uint64_t ending = 0;
    for (std::uint64_t left = paths; left != 0; left &= left - 1)
      if (paths_[lowest(left)].steps.size() == depth) ending |= left & -left;
    return ending;
  }
  void note(std::uint64_t paths, Text value) noexcept {
    for (; paths != 0; paths &= paths - 1) values_[lowest(paths)] = value;
  }
  // The last member of a name counts: what the paths found in the one before is no value of theirs.
  void forget(std::uint64_t paths, const char* name) noexcept {
    if (repeated_.paths == 0) repeated_.at = static_cast<std::size_t>(name - begin_);
    repeated_.paths |= paths;
    note(paths, {});
  }
  [[nodiscard]] static std::size_t lowest(std::uint64_t paths) noexcept {
    return static_cast<std::size_t>(std::countr_zero(paths));
  }

  // Returns the paths whose next step leads to the member, or to the element.
  [[nodiscard]] std::uint64_t that_lead_to(std::uint64_t paths, unsigned depth, Text raw_name) const {
    std::uint64_t leading = 0;
    for (std::uint64_t left = paths; left != 0; left &= left - 1) {
      const PathStep& step = paths_[lowest(left)].steps[depth];
      if (!step.is_place && is_name(raw_name, step.name)) leading |= left & -left;
    }
    return leading;
  }
  [[nodiscard]] std::uint64_t that_lead_to(std::uint64_t paths, unsigned depth, std::size_t place) const noexcept {
    std::uint64_t leading = 0;
    for (std::uint64_t left = paths; left != 0; left &= left - 1) {
      const PathStep& step = paths_[lowest(left)].steps[depth];
      if (step.is_place && step.place == place) leading |= left & -left;
    }
    return leading;
  }

  bool pass() noexcept {
    ++at_;
    return true;
  }

  bool take_word(Text word) {
    if (!Text(at_, static_cast<std::size_t>(end_ - at_)).starts_with(word)) return fail("this is no value of JSON");
    at_ += word.size();
    return true;
  }

  bool take_string() {
    const char* const begin = at_++;
    for (;;) {
      at_ = find_special(at_, end_);
      if (at_ == end_) return fail_at(begin, "a string is not closed");
      if (*at_ == '"') return pass();
      if (*at_ == '\\' ? !take_escape() : !take_other()) return false;
    }
  }

  bool take_escape() {
    const char* const begin = at_++;
    has_escape_ = true;
    if (at_ == end_ || Text("\"\\/bfnrtu").find(*at_) == Text::npos)
      return fail_at(begin, "a backslash begins no escape of JSON");
    if (*at_++ != 'u') return true;
    if (end_ - at_ < 4 || !std::all_of(at_, at_ + 4, is_hex_digit)) return fail_at(begin, "\\u is not followed by four digits");
    at_ += 4;
    return true;
  }

  // A control character, or one that is not ASCII.
  bool take_other() {
    if (static_cast<unsigned char>(*at_) < 0x80) return fail("a control character is within a string; it is written \\u00..");
    const std::size_t size = utf8_character(at_, end_);
    if (size == 0) return fail("this is not UTF-8");
    at_ += size;
    return true;
  }

  // True if there is one digit at least.
  bool take_digits() noexcept {
    const char* const begin = at_;
    while (at_ != end_ && is_digit(*at_)) ++at_;
    return at_ != begin;
  }

  bool take_number() {
    const char* const begin = at_;
    if (is_at('-')) ++at_;
    const bool is_zero = is_at('0');
    const char* const digits = at_;
    if (!take_digits())
      return fail_at(begin, begin == at_ ? "this is no value of JSON" : "a digit is wanted behind the minus sign");
    if (is_zero && at_ - digits > 1) return fail_at(begin, "a number begins with a zero too many");
    if (is_at('.')) {
      ++at_;
      if (!take_digits()) return fail("a digit is wanted behind the point");
    }
    if (!is_at('e') && !is_at('E')) return true;
    ++at_;
    if (is_at('-') || is_at('+')) ++at_;
    return take_digits() || fail("a digit is wanted in the exponent");
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  const std::vector<Path>& paths_;
  Text* values_;
  Repeated& repeated_;
  formats::RowFault fault_;
  bool has_failed_ = false;
  bool has_escape_ = false;  // the string that was taken last has one
  unsigned depth_ = 0;
  Open open_[most_depth];  // the first depth_ of them
};

}  // namespace

bool is_blank(Text row) noexcept { return std::ranges::all_of(row, is_white); }

std::optional<formats::RowFault> read_row(Text row, const std::vector<Path>& paths, Text* values, Repeated& repeated) {
  RowReader reader(row, paths, values, repeated);
  if (reader.read()) return std::nullopt;
  return std::move(reader.fault());
}

}  // namespace ecosort::jsonl
