#include "scale/numbered_rows.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/random.h"

namespace ecosort::scale {

namespace {

constexpr std::array<std::string_view, 24> words = {"amber",  "basil", "crate", "delta",  "ember", "flint",  "grove",  "hazel",
                                                    "indigo", "jute",  "kelp",  "linen",  "maple", "nutmeg", "olive",  "pepper",
                                                    "quartz", "rye",   "sage",  "tomato", "umber", "violet", "walnut", "zinc"};

// A shop, in quotes where it has a comma, and 15 to 40 words.
std::string make_text(Random& random) {
  const auto word = [&] { return std::string(words[random.below(words.size())]); };
  const bool has_comma = random.below(3) == 0;
  std::string text = has_comma ? ",\"" + word() + ", " + std::to_string(random.below(90)) + "\"," : "," + word() + ",";
  for (std::uint64_t left = 15 + random.below(26); left > 0; --left) text += word() + (left > 1 ? " " : "\n");
  return text;
}

// A permutation of 64 bits (the end of splitmix64), cut to the digits of an id.
std::uint64_t id_of(std::uint64_t number) noexcept {
  number = (number ^ (number >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  number = (number ^ (number >> 27U)) * 0x94d049bb133111ebULL;
  return (number ^ (number >> 31U)) % 1'000'000'000'000ULL;
}

}  // namespace

NumberedRows::NumberedRows(std::uint64_t at_most) {
  Random random(17);
  for (std::size_t i = 0; i < texts; ++i) {
    text_[i] = make_text(random);
    row_begin_[i + 1] = row_begin_[i] + id_digits + text_[i].size();
  }
  group_bytes_ = row_begin_[texts];
  if (at_most > header.size()) groups_ = (at_most - header.size()) / group_bytes_;
}

void NumberedRows::make(std::uint64_t offset, std::size_t size, std::byte* out) const noexcept {
  const auto put = [&](std::string_view from) {  // what of it comes next
    const std::size_t skip = std::min<std::uint64_t>(offset, from.size()), part = std::min(size, from.size() - skip);
    std::memcpy(out, from.data() + skip, part);
    offset -= skip;
    size -= part;
    out += part;
  };
  if (offset >= header.size()) {
    offset -= header.size();
  } else {
    put(header);
  }
  const std::uint64_t group = offset / group_bytes_;
  offset %= group_bytes_;
  const auto row = static_cast<std::uint64_t>(std::ranges::upper_bound(row_begin_, offset) - row_begin_.begin()) - 1;
  offset -= row_begin_[row];
  for (std::uint64_t number = group * texts + row + 1; size > 0; ++number) {
    std::array<char, id_digits> id{};
    std::uint64_t left = id_of(number);
    for (auto digit = id.rbegin(); digit != id.rend(); ++digit, left /= 10) *digit = static_cast<char>('0' + left % 10);
    put({id.data(), id.size()});
    put(text_[(number - 1) % texts]);
  }
}

}  // namespace ecosort::scale
