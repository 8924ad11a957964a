// Finds out by its first bytes what a file holds that is no text and no records: this is the one table of the magic numbers that
// EcoSort knows.
//
// Everything here is pure; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "codec/codec.h"

namespace ecosort::codec {

struct Contents {
  std::string_view name;       // as in "a.zst (zstd)"
  std::string_view is;         // behind "is": "compressed by lzip", "a 7z archive"
  std::string_view advice;     // what to do with it
  std::optional<Codec> codec;  // that reads it; none: EcoSort cannot
  bool is_certain = true;      // its beginning is too long to be a number by chance
};

// The table needs no more bytes of the beginning of a file.
inline constexpr std::size_t contents_bytes = 512;

// Null: it may be text, or records. Frames that decoders of zstd and lz4 skip are passed over; where they go on behind `first`,
// it is taken for zstd. The `name` of the file counts only for what has no magic number (brotli).
[[nodiscard]] const Contents* contents_of(std::string_view first, std::string_view name = {}) noexcept;

// "compressed by lzip; decompress it first: lzip -dc". What EcoSort would have decompressed is found where rows should be.
[[nodiscard]] std::string text_of(const Contents& contents);

// Returns the bytes that data of the codec begins with.
[[nodiscard]] std::string_view magic_of(Codec codec) noexcept;
// Returns whether .lzma data may begin so: the older format of xz has properties, and no magic number.
[[nodiscard]] bool may_be_lzma(std::string_view head) noexcept;
// Returns whether a frame begins so that decoders of zstd and lz4 skip it.
[[nodiscard]] bool is_skippable_frame(std::string_view head) noexcept;

}  // namespace ecosort::codec
