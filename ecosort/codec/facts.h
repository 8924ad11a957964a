// Codecs differ in a row of facts only, which is at the end of the file that has its encoder and its decoder, and the
// rest of codec/ asks no more. A new codec is such a file, its name in Codec, its place in facts_of(), and its magic number in
// contents.cpp.
//
// Everything here is pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "codec/allowance.h"
#include "codec/codec.h"
#include "codec/decoder.h"
#include "codec/encoder.h"

namespace ecosort::codec {

struct CodecFacts {
  const char* name;          // of the usual program, and a word of the options
  std::string_view ending;   // of file names
  std::string (*library)();  // its version, as --version prints it
  Levels levels;
  bool has_skippable_frames;  // decoders pass over them between members; those of the others pass over zeros
  std::uint64_t (*decoder_bytes)(std::string_view first) noexcept;
  std::unique_ptr<Decoder> (*make_decoder)(Allowance& allowance);
  std::uint64_t (*encoder_bytes)(int level, std::size_t most_bytes) noexcept;
  std::size_t (*encoded_bound)(std::size_t bytes) noexcept;
  std::unique_ptr<MemberEncoder> (*make_encoder)(int level, std::size_t most_bytes);
  std::string_view ending_member = {};  // behind all others; may be empty
};

extern const CodecFacts gzip_facts, zstd_facts, lz4_facts, xz_facts, bzip2_facts, bgzf_facts;

[[nodiscard]] const CodecFacts& facts_of(Codec codec) noexcept;

// Returns the codec whose magic number and decoder are those of what this one writes.
[[nodiscard]] constexpr Codec reader_of(Codec codec) noexcept { return codec == Codec::bgzf ? Codec::gzip : codec; }

}  // namespace ecosort::codec
