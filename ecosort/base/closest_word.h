// "Did you mean": which of the words that there are was probably meant by one that there is not.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ecosort {

// Insertions, deletions, replaced characters and swapped neighbours that make `b` of `a` (optimal string alignment distance).
[[nodiscard]] unsigned edit_distance(std::string_view a, std::string_view b);

// The nearest of `words`, the first one of several; nothing where more than a third of the letters are wrong. A word that begins
// with what was typed is near, and so is one that differs by the case of letters only.
[[nodiscard]] std::optional<std::string_view> closest_word(std::string_view typed, std::span<const std::string_view> words);

// "; did you mean 'WORD'?", or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view typed, std::span<const std::string_view> words);

}  // namespace ecosort
