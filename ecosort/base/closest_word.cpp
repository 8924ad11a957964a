#include "base/closest_word.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/text.h"

namespace ecosort {

namespace {

std::string in_small_letters(std::string_view word) {
  std::string text(word);
  std::ranges::transform(text, text.begin(), to_lower);
  return text;
}

}  // namespace

unsigned edit_distance(std::string_view a, std::string_view b) {
  std::vector<unsigned> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);  // rows of the table of distances
  for (unsigned j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = static_cast<unsigned>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      const bool is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swapped) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

std::optional<std::string_view> closest_word(std::string_view typed, std::span<const std::string_view> words) {
  std::optional<std::string_view> closest;
  std::size_t least = SIZE_MAX;
  const std::string typed_small = in_small_letters(typed);
  for (const std::string_view word : words) {
    const bool is_near = (typed.size() >= 3 && word.starts_with(typed)) || in_small_letters(word) == typed_small;
    const std::size_t distance = is_near ? 1 : edit_distance(typed, word);
    const std::size_t most = std::max<std::size_t>(std::min(typed.size(), word.size()) / 3, 1);
    if (distance > most || distance >= least || distance >= word.size()) continue;
    least = distance;
    closest = word;
  }
  return closest;
}

std::string did_you_mean(std::string_view typed, std::span<const std::string_view> words) {
  const std::optional<std::string_view> word = closest_word(typed, words);
  return word ? "; did you mean '" + std::string(*word) + "'?" : "";
}

}  // namespace ecosort
