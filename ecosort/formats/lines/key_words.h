// Holds what a user may write about one sort key: positions and the letters of its options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ecosort/request.hpp"
#include "formats/lines/line_order.h"

namespace ecosort::lines {

enum class BlankSide : std::uint8_t { begin, end, both };  // where 'b' applies: at the position that it follows

// A key as it was written, or the options outside of keys.
class KeyWords {
 public:
  KeyWords() = default;
  explicit KeyWords(const LineKey& key);
  [[nodiscard]] LineKey key() const;

  // False: the letter is no ordering option.
  bool set(char letter, BlankSide side);
  [[nodiscard]] bool has(char letter) const noexcept { return letters_.find(letter) != std::string::npos; }
  [[nodiscard]] bool has_options() const noexcept { return !letters_.empty(); }
  // Options other than -r make a key of the whole line.
  [[nodiscard]] bool orders() const noexcept { return letters_.find_first_not_of('r') != std::string::npos; }
  void inherit(const KeyWords& global);

  // UsageError where options exclude each other.
  void check_compatible() const;

  [[nodiscard]] SortKey resolved() const;

  SortKey place;                // positions only
  bool is_obsolescent = false;  // "+N -M"

 private:
  std::string letters_;
  bool begin_blanks_ = false, end_blanks_ = false;
};

// Resolves the keys together with the options outside of them (`global`): a key without options of its own has theirs, and where
// there is no key they make one of the whole line. Completes `keys`. UsageError where options exclude each other.
void resolve_keys(std::vector<KeyWords>& keys, const KeyWords& global);

// The order of the lines. UsageError for keys that cannot be.
[[nodiscard]] LineOrderTerms order_terms(const Lines& lines, bool is_unique);

// Returns whether the order of lines is random: that of -R.
[[nodiscard]] bool uses_chance(const LineOrderTerms& order) noexcept;

// Returns the salt in the form of Lines::random_salt.
[[nodiscard]] std::string salt_text(const Digest& salt);

// "POS1[,POS2]" as after -k; UsageError in the words of sort.
[[nodiscard]] KeyWords parse_key_words(std::string_view text);

// "N[.M][letters]" behind '+'; nothing if it is no key. The second function reads what is behind '-'.
[[nodiscard]] std::optional<KeyWords> parse_obsolescent_begin(std::string_view text);
void parse_obsolescent_end(std::string_view text, KeyWords& key);

}  // namespace ecosort::lines
