#include "formats/foreign.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "codec/contents.h"

namespace ecosort::formats {
namespace {

using std::string_view_literals::operator""sv;

struct Encoding {
  std::string_view mark, kind;
};
constexpr std::array encodings{
    Encoding{"\xff\xfe\0\0"sv, "text in UTF-32; convert it first: iconv -f UTF-32 -t UTF-8"},
    Encoding{"\0\0\xfe\xff"sv, "text in UTF-32; convert it first: iconv -f UTF-32 -t UTF-8"},
    Encoding{"\xff\xfe"sv, "text in UTF-16; convert it first: iconv -f UTF-16 -t UTF-8"},
    Encoding{"\xfe\xff"sv, "text in UTF-16; convert it first: iconv -f UTF-16 -t UTF-8"},
};

// Returns whether every second byte is zero, from that place on, and no other is: as of Latin letters.
bool has_zeros_at(std::size_t place, std::string_view row) {
  constexpr std::size_t enough = 64;
  row = row.substr(0, enough);
  if (row.size() < 2) return false;
  for (std::size_t i = 0; i < row.size(); ++i)
    if ((row[i] == '\0') != (i % 2 == place)) return false;
  return true;
}

}  // namespace

std::optional<std::string> foreign_kind(std::string_view first_row, bool has_zeros) {
  for (const Encoding& encoding : encodings)
    if (first_row.starts_with(encoding.mark)) return std::string(encoding.kind);
  for (const auto& [place, name] : {std::pair(0, "UTF-16BE"), std::pair(1, "UTF-16LE")})
    if (!has_zeros && has_zeros_at(static_cast<std::size_t>(place), first_row))
      return fmt::format("text in UTF-16; convert it first: iconv -f {} -t UTF-8", name);
  const codec::Contents* const contents = codec::contents_of(first_row);
  return contents != nullptr ? std::optional(codec::text_of(*contents)) : std::nullopt;
}

}  // namespace ecosort::formats
