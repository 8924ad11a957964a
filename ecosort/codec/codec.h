// The compressed formats that EcoSort reads and writes, by name and by file name. What files begin with is in contents.h.
//
// Everything here is pure; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ecosort/ecosort.hpp"

namespace ecosort::codec {

enum class Codec : std::uint8_t { gzip, zstd, lz4, xz, bzip2, bgzf };

inline constexpr std::array all_codecs{Codec::gzip, Codec::zstd, Codec::lz4, Codec::xz, Codec::bzip2, Codec::bgzf};

// The first bytes of a file, this many, show what it is and what memory its first member takes.
inline constexpr std::size_t beginning_bytes = 64;

[[nodiscard]] const char* name_of(Codec codec) noexcept;  // that of the usual program, which is a word of the options, too
[[nodiscard]] std::optional<Codec> codec_of_word(std::string_view word) noexcept;  // a name, or the ending of file names
[[nodiscard]] std::optional<Codec> codec_of_file_name(
    std::string_view name) noexcept;  // by its ending: .gz .zst .lz4 .xz .bz2 .bgz
// Returns it for the name of an input: xz reads .lzma, too.
[[nodiscard]] std::optional<Codec> codec_of_input_name(std::string_view name) noexcept;

// "gzip (zlib 1.2.13, libdeflate 1.14), zstd 1.5.4, ...": what this program has.
[[nodiscard]] std::string versions();

// Say it of all codecs, for help: "gzip|zstd|...", ".gz .zst ...", "gzip 1 to 12, zstd 1 to 19, ...".
[[nodiscard]] std::string names_with_bars();
[[nodiscard]] std::string endings();
[[nodiscard]] std::string levels();
// Returns the endings of names by which inputs are decompressed.
[[nodiscard]] std::vector<std::string_view> endings_of_inputs();

// "auto" or "never", and a level. UsageError, which begins with the name of the option.
[[nodiscard]] bool decompress_of_word(const std::string& word, std::string_view option);
[[nodiscard]] int level_of_word(const std::string& word, std::string_view option);
// Returns how such an error begins; nothing without an option.
[[nodiscard]] std::string in_front(std::string_view option);

// Says how an output is compressed. The level is one that the codec has.
struct OutputCodec {
  Codec codec = Codec::gzip;
  int level = 0;
};

// Nothing: as it is. UsageError for words and levels that are none, and for a level without a codec.
[[nodiscard]] std::optional<OutputCodec> output_codec_of(const Compression& terms, const std::string& output);

}  // namespace ecosort::codec
