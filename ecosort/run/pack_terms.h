// Says how the blocks of a run are packed: with which codec, and whether the records of a block are transposed, or its rows
// truncated, before.
#pragma once

#include <string>

#include "codec/block_codec.h"

namespace ecosort::run {

struct PackTerms {
  codec::BlockTerms codec;
  bool transposes = false;  // records of one size (codec/transpose.h)
  bool truncates = false;   // rows (codec/truncate.h), in front of the codec
  [[nodiscard]] bool is_none() const noexcept { return codec.codec == codec::BlockCodec::none; }
  friend bool operator==(const PackTerms&, const PackTerms&) = default;
};

// "none", "prefix", "lz4", "prefix+lz4", "zstd:1 of columns".
[[nodiscard]] inline std::string text_of(const PackTerms& terms) {
  const bool is_before = terms.truncates && terms.codec.codec != codec::BlockCodec::prefix;
  return (is_before ? "prefix+" : "") + codec::text_of(terms.codec) + (terms.transposes ? " of columns" : "");
}

}  // namespace ecosort::run
