#include "formats/foreign.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "codec/codec.h"

namespace ecosort::rows {
namespace {

using std::string_view_literals::operator""sv;

struct Foreign {
  std::string_view beginning, kind;
};
constexpr std::array foreign_files{Foreign{"\xff\xfe\0\0"sv, "text in UTF-32; convert it first: iconv -f UTF-32 -t UTF-8"},
                                   Foreign{"\0\0\xfe\xff"sv, "text in UTF-32; convert it first: iconv -f UTF-32 -t UTF-8"},
                                   Foreign{"\xff\xfe"sv, "text in UTF-16; convert it first: iconv -f UTF-16 -t UTF-8"},
                                   Foreign{"\xfe\xff"sv, "text in UTF-16; convert it first: iconv -f UTF-16 -t UTF-8"},
                                   Foreign{"PK\x03\x04"sv, "an archive (zip, xlsx, ods); unpack it, or export its tables as CSV"},
                                   Foreign{"7z\xbc\xaf"sv, "an archive (7z); unpack it first"},
                                   Foreign{"\x1f\x9d"sv, "compressed by compress; decompress it first: zcat"},
                                   Foreign{"\x02\x21\x4c\x18"sv, "compressed by lz4 -l; decompress it first: lz4 -dc"},
                                   Foreign{"]\0\0"sv, "compressed by lzma; decompress it first: xz -dc --format=lzma"},
                                   Foreign{"PAR1\x15"sv, "Parquet; Python's ecosort.sort_table() sorts it"}};

// Whether every second byte is zero, from that place on, and no other is: as of Latin letters.
bool has_zeros_at(std::size_t place, std::string_view row) {
  constexpr std::size_t enough = 64;
  row = row.substr(0, enough);
  if (row.size() < 2) return false;
  for (std::size_t i = 0; i < row.size(); ++i)
    if ((row[i] == '\0') != (i % 2 == place)) return false;
  return true;
}

}  // namespace

std::optional<std::string> foreign_kind(std::string_view first_row) {
  for (const Foreign& foreign : foreign_files)
    if (first_row.starts_with(foreign.beginning)) return std::string(foreign.kind);
  for (const auto& [place, name] : {std::pair(0, "UTF-16BE"), std::pair(1, "UTF-16LE")})
    if (has_zeros_at(static_cast<std::size_t>(place), first_row))
      return fmt::format("text in UTF-16; convert it first: iconv -f {} -t UTF-8", name);
  // An input that begins so is decompressed where that is wished for.
  if (const auto codec = codec::codec_of_beginning(first_row))
    return fmt::format("{0} data where rows should be: compressed twice, or not to be decompressed; decompress it first: {0} -dc",
                       codec::name_of(*codec));
  return std::nullopt;
}

}  // namespace ecosort::rows
