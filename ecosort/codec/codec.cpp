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

struct Format {
  Codec codec;
  const char* name;
  std::string_view ending;
};

constexpr std::array formats{Format{Codec::gzip, "gzip", ".gz"}, Format{Codec::zstd, "zstd", ".zst"},
                             Format{Codec::lz4, "lz4", ".lz4"}, Format{Codec::xz, "xz", ".xz"},
                             Format{Codec::bzip2, "bzip2", ".bz2"}};

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

std::optional<Codec> codec_of_input_name(std::string_view name) noexcept {
  return name.ends_with(".lzma") ? Codec::xz : codec_of_file_name(name);
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

std::optional<OutputCodec> output_codec_of(const Compression& terms, const std::string& output) {
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
