// Codecs differ in a row of facts only, which is at the end of the file that has its encoder and its decoder, and the
// rest of the program asks no more: options and help have its name, too. A new codec is such a file, its name in Codec, and its
// place in all_facts.
//
// Everything here is pure; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "codec/allowance.h"
#include "codec/codec.h"
#include "codec/contents.h"
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
  std::string_view magic = {};          // what its data begins with; empty: it is read as data of another codec (reader_of)
  Contents contents = {};               // of a file that begins so
  bool (*agrees)(std::string_view first) noexcept = nullptr;  // null: the magic number says all
};

extern const CodecFacts gzip_facts, zstd_facts, lz4_facts, xz_facts, bzip2_facts, bgzf_facts;

inline constexpr std::array all_facts{&gzip_facts, &zstd_facts, &lz4_facts, &xz_facts, &bzip2_facts, &bgzf_facts};
static_assert(all_facts.size() == all_codecs.size());
[[nodiscard]] inline const CodecFacts& facts_of(Codec codec) noexcept { return *all_facts[static_cast<std::size_t>(codec)]; }

// Returns the codec whose magic number and decoder are those of what this one writes.
[[nodiscard]] constexpr Codec reader_of(Codec codec) noexcept { return codec == Codec::bgzf ? Codec::gzip : codec; }

}  // namespace ecosort::codec
