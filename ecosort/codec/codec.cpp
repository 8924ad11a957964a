#include "codec/codec.h"

#include <bzlib.h>
#include <fmt/format.h>
#include <libdeflate.h>
#include <lz4.h>
#include <lzma.h>
#include <zstd.h>
#ifdef ECOSORT_ISAL
#include <isa-l.h>
#else
#include <zlib.h>
#endif

#include <algorithm>
#include <charconv>

#include "base/errors.h"
#include "codec/encoder.h"

namespace ecosort::codec {
namespace {

using std::string_view_literals::operator""sv;

struct Format {
  Codec codec;
  const char* name;
  std::string_view ending;
  std::string_view magic;
  std::size_t more_at = 0;  // further bytes that text would not have there
  std::string_view more;
};

// RFC 1952, RFC 8878, the LZ4 frame format 1.6, the .xz file format 1.2.1, bzip2.
constexpr std::array<Format, 5> formats{{{Codec::gzip, "gzip", ".gz", "\x1f\x8b"sv, 2, "\x08"sv},
                                         {Codec::zstd, "zstd", ".zst", "\x28\xb5\x2f\xfd"sv, 0, ""},
                                         {Codec::lz4, "lz4", ".lz4", "\x04\x22\x4d\x18"sv, 0, ""},
                                         {Codec::xz, "xz", ".xz",
                                          "\xfd"
                                          "7zXZ\0"sv,
                                          0, ""},
                                         {Codec::bzip2, "bzip2", ".bz2", "BZh"sv, 0, ""}}};

// Behind the size of its blocks, a file of bzip2 has the digits of pi, or of its root where it holds nothing.
bool has_blocks_of_bzip2(std::string_view first) {
  constexpr std::size_t at = 4, size = 6;
  if (first.size() < at + size || first[3] < '1' || first[3] > '9') return false;
  return first.substr(at, size) == "1AY&SY"sv || first.substr(at, size) == "\x17\x72\x45\x38\x50\x90"sv;
}

}  // namespace

const char* name_of(Codec codec) noexcept { return std::ranges::find(formats, codec, &Format::codec)->name; }

std::optional<Codec> codec_of_word(std::string_view word) noexcept {
  for (const Format& format : formats)
    if (word == format.name || word == format.ending.substr(1)) return format.codec;
  return std::nullopt;
}

std::optional<Codec> codec_of_file_name(std::string_view name) noexcept {
  for (const Format& format : formats)
    if (name.ends_with(format.ending)) return format.codec;
  return std::nullopt;
}

std::optional<Codec> codec_of_beginning(std::string_view first) noexcept {
  for (const Format& format : formats) {
    if (!first.starts_with(format.magic) || !first.substr(std::min(format.more_at, first.size())).starts_with(format.more))
      continue;
    if (format.codec != Codec::bzip2 || has_blocks_of_bzip2(first)) return format.codec;
  }
  return std::nullopt;
}

namespace {

std::string gzip_decoder() {
#ifdef ECOSORT_ISAL
  return fmt::format("ISA-L {}.{}.{}", ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION, ISAL_PATCH_VERSION);
#else
  return fmt::format("zlib {}", zlibVersion());
#endif
}

}  // namespace

std::string versions() {
  const std::string bzip2 = BZ2_bzlibVersion();
  return fmt::format("gzip ({}, libdeflate {}), zstd {}, lz4 {}, xz {}, bzip2 {}", gzip_decoder(), LIBDEFLATE_VERSION_STRING,
                     ZSTD_versionString(), LZ4_versionString(), lzma_version_string(), bzip2.substr(0, bzip2.find(',')));
}

std::string in_front(std::string_view option) { return option.empty() ? "" : fmt::format("{}: ", option); }

bool decompress_of_word(const std::string& word, std::string_view option) {
  if (word != "auto" && word != "never")
    throw UsageError(fmt::format("{}'{}' is neither auto nor never", in_front(option), word));
  return word == "auto";
}

int level_of_word(const std::string& word, std::string_view option) {
  int level = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), level);
  if (error != std::errc() || end != word.data() + word.size())
    throw UsageError(fmt::format("{}'{}' is no number", in_front(option), word));
  return level;
}

std::optional<OutputCodec> output_codec_of(const CompressionTerms& terms, const std::string& output) {
  const std::string& word = terms.output;
  std::optional<Codec> codec = codec_of_word(word);
  if (word == "auto")
    codec = codec_of_file_name(output);
  else if (word != "none" && !codec)
    throw UsageError(
        fmt::format("'{}' is none of auto, none, gzip, zstd, lz4, xz and bzip2, with which an output can be compressed", word));
  if (!codec) {
    if (terms.level) throw UsageError("a level is for a compressed output; say what compresses it, such as zstd");
    return std::nullopt;
  }
  const Levels levels = levels_of(*codec);
  const int level = terms.level.value_or(levels.usual);
  if (level < levels.least || level > levels.most)
    throw UsageError(fmt::format("level {}: {} has levels {} to {}", level, name_of(*codec), levels.least, levels.most));
  return OutputCodec{*codec, level};
}

}  // namespace ecosort::codec
