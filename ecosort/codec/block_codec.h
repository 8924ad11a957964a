// Compression of the blocks of runs: each by itself, into no more room than there is, and back within bounds that hold whatever
// the bytes are.
//
//   lz4    the block format of liblz4 (no frame)         zstd    one frame without checksum and size
//
//   prefix rows without what they share with the rows before them (truncate.h): run/packed_block.h does that, also in front of
//          another codec
//
// A block says what it is compressed with (run/packed_block.h); what checks its bytes is there, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ecosort::codec {

// The numbers are in stored blocks.
enum class BlockCodec : std::uint8_t { none = 0, lz4 = 1, zstd = 2, prefix = 3 };
inline constexpr std::uint64_t block_codecs = 4;

// Returns whether coders of `a` take more than those of `b`, which they can replace then.
[[nodiscard]] constexpr bool takes_more(BlockCodec a, BlockCodec b) noexcept {
  constexpr unsigned ranks[block_codecs] = {0, 2, 3, 1};
  return ranks[static_cast<unsigned>(a)] > ranks[static_cast<unsigned>(b)];
}

struct BlockTerms {
  BlockCodec codec = BlockCodec::none;
  int level = 0;  // of zstd
  friend bool operator==(const BlockTerms&, const BlockTerms&) = default;
};

// "none", "prefix", "lz4", "zstd:1".
[[nodiscard]] std::string text_of(const BlockTerms& terms);

// Says how temporary runs are compressed.
struct RunCompression {
  bool is_auto = false;  // whatever pays; `terms` is the one that takes most
  BlockTerms terms;
  [[nodiscard]] bool is_none() const noexcept { return !is_auto && terms.codec == BlockCodec::none; }
};

// "auto", "none", "prefix", "lz4", "zstd" or "zstd:LEVEL". UsageError, which begins with the name of the option, where there is
// one.
[[nodiscard]] RunCompression run_compression_of_word(const std::string& word, std::string_view option = {});
// Returns whether the word is meant as one of these.
[[nodiscard]] bool is_run_compression(std::string_view word) noexcept;
// A ratio that is assumed, in thousandths: a number of at least 1, such as 2.5. UsageError as above.
[[nodiscard]] std::uint64_t ratio_of_word(const std::string& word, std::string_view option = {});

// One thread at a time. Takes no memory but what it is given.
class BlockCoder {
 public:
  // Returns what a coder takes for these terms and blocks of up to `most_bytes`.
  [[nodiscard]] static std::uint64_t memory_bytes(const BlockTerms& terms, std::size_t most_bytes) noexcept;

  // `memory`: memory_bytes(), aligned to 64 bytes. It decodes every codec that `terms` asks for, and encodes with lz4 or with
  // exactly these terms.
  BlockCoder(const BlockTerms& terms, std::size_t most_bytes, std::span<std::byte> memory);

  // Returns the bytes that `in`, at most `most_bytes` and not empty, takes in `out`; nothing: more than there are.
  [[nodiscard]] std::optional<std::size_t> encode(const BlockTerms& terms, std::span<const std::byte> in,
                                                  std::span<std::byte> out) const;
  // Decodes `in`, and returns whether it is exactly `out.size()` bytes. Nothing is written beyond `out`, whatever `in` is.
  [[nodiscard]] bool decode(BlockCodec codec, std::span<const std::byte> in, std::span<std::byte> out) const;

 private:
  std::byte* lz4_state_;
  void* compressor_ = nullptr;  // of zstd, in the memory that was given
  void* decompressor_ = nullptr;
};

}  // namespace ecosort::codec
