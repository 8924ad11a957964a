#define ZSTD_STATIC_LINKING_ONLY  // contexts in memory that is given
#include "codec/block_codec.h"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <charconv>
#include <climits>

#include "base/errors.h"
#include "codec/encoder.h"

namespace ecosort::codec {
namespace {

constexpr std::size_t alignment = 64;

std::size_t aligned(std::size_t bytes) noexcept { return (bytes + alignment - 1) / alignment * alignment; }

std::size_t lz4_state_bytes() noexcept { return aligned(static_cast<std::size_t>(LZ4_sizeofState())); }

ZSTD_compressionParameters parameters_of(int level, std::size_t most_bytes) noexcept {
  return ZSTD_getCParams(level, most_bytes, 0);
}

// Smaller blocks may take larger tables: zstd has sets of parameters for up to these sizes, and one for more.
std::size_t compressor_bytes(int level, std::size_t most_bytes) noexcept {
  std::size_t bytes = ZSTD_estimateCCtxSize_usingCParams(parameters_of(level, most_bytes));
  for (const std::size_t size : {std::size_t{16} << 10U, std::size_t{128} << 10U, std::size_t{256} << 10U})
    if (size < most_bytes) bytes = std::max(bytes, ZSTD_estimateCCtxSize_usingCParams(parameters_of(level, size)));
  return aligned(bytes);
}

// The same tables for every block, so that they always fit the memory that was set aside.
void set_parameters(ZSTD_CCtx* context, int level, std::size_t most_bytes) {
  const ZSTD_compressionParameters wanted = parameters_of(level, most_bytes);
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, static_cast<int>(wanted.windowLog));
  ZSTD_CCtx_setParameter(context, ZSTD_c_hashLog, static_cast<int>(wanted.hashLog));
  ZSTD_CCtx_setParameter(context, ZSTD_c_chainLog, static_cast<int>(wanted.chainLog));
  ZSTD_CCtx_setParameter(context, ZSTD_c_searchLog, static_cast<int>(wanted.searchLog));
  ZSTD_CCtx_setParameter(context, ZSTD_c_minMatch, static_cast<int>(wanted.minMatch));
  ZSTD_CCtx_setParameter(context, ZSTD_c_targetLength, static_cast<int>(wanted.targetLength));
  ZSTD_CCtx_setParameter(context, ZSTD_c_strategy, static_cast<int>(wanted.strategy));
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
}

int zstd_level_of(const std::string& text, std::string_view option) {
  const Levels levels = levels_of(Codec::zstd);
  int level = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), level);
  if (error != std::errc() || end != text.data() + text.size() || level < levels.least || level > levels.most)
    throw UsageError(fmt::format("{}zstd has levels {} to {}, not '{}'", in_front(option), levels.least, levels.most, text));
  return level;
}

constexpr std::string_view with_level = "zstd:";
constexpr int usual_zstd_level = 1;  // runs are read once: time counts for more than space

}  // namespace

std::string text_of(const BlockTerms& terms) {
  switch (terms.codec) {
    case BlockCodec::none:
      return "none";
    case BlockCodec::prefix:
      return "prefix";
    case BlockCodec::lz4:
      return "lz4";
    case BlockCodec::zstd:
      return fmt::format("zstd:{}", terms.level);
  }
  return {};
}

bool is_run_compression(std::string_view word) noexcept {
  return word == "auto" || word == "none" || word == "prefix" || word == "lz4" || word == "zstd" || word.starts_with(with_level);
}

std::uint64_t ratio_of_word(const std::string& word, std::string_view option) {
  constexpr double thousandths = 1000, most = 1000;
  double ratio = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), ratio, std::chars_format::fixed);
  if (error != std::errc() || end != word.data() + word.size() || !(ratio >= 1 && ratio <= most))
    throw UsageError(fmt::format("{}'{}' is no number from 1 to 1000, such as 2.5", in_front(option), word));
  return static_cast<std::uint64_t>(ratio * thousandths);
}

RunCompression run_compression_of_word(const std::string& word, std::string_view option) {
  if (word == "none") return {};
  if (word == "prefix") return {false, {BlockCodec::prefix, 0}};
  if (word == "lz4") return {false, {BlockCodec::lz4, 0}};
  if (word == "auto" || word == "zstd") return {word == "auto", {BlockCodec::zstd, usual_zstd_level}};
  if (word.starts_with(with_level)) return {false, {BlockCodec::zstd, zstd_level_of(word.substr(with_level.size()), option)}};
  throw UsageError(fmt::format("{}'{}' is none of auto, none, prefix, lz4, zstd and zstd:LEVEL", in_front(option), word));
}

std::uint64_t BlockCoder::memory_bytes(const BlockTerms& terms, std::size_t most_bytes) noexcept {
  if (terms.codec != BlockCodec::zstd) return lz4_state_bytes();
  return lz4_state_bytes() + compressor_bytes(terms.level, most_bytes) + aligned(ZSTD_estimateDCtxSize());
}

BlockCoder::BlockCoder(const BlockTerms& terms, std::size_t most_bytes, std::span<std::byte> memory) : lz4_state_(memory.data()) {
  if (terms.codec != BlockCodec::zstd) return;
  std::byte* const at = memory.data() + lz4_state_bytes();
  const std::size_t size = compressor_bytes(terms.level, most_bytes);
  auto* const compressor = ZSTD_initStaticCCtx(at, size);
  auto* const decompressor = ZSTD_initStaticDCtx(at + size, aligned(ZSTD_estimateDCtxSize()));
  if (compressor == nullptr || decompressor == nullptr) throw InternalError("the memory of a zstd context is too little");
  set_parameters(compressor, terms.level, most_bytes);
  compressor_ = compressor;
  decompressor_ = decompressor;
}

std::optional<std::size_t> BlockCoder::encode(const BlockTerms& terms, std::span<const std::byte> in,
                                              std::span<std::byte> out) const {
  if (in.size() > INT_MAX) throw InternalError("a block of a run is larger than codecs take");
  if (terms.codec == BlockCodec::lz4) {
    const int room = static_cast<int>(std::min<std::size_t>(out.size(), INT_MAX));
    const int size = LZ4_compress_fast_extState(lz4_state_, reinterpret_cast<const char*>(in.data()),
                                                reinterpret_cast<char*>(out.data()), static_cast<int>(in.size()), room, 1);
    return size > 0 ? std::optional<std::size_t>(static_cast<std::size_t>(size)) : std::nullopt;
  }
  if (terms.codec != BlockCodec::zstd || compressor_ == nullptr) return std::nullopt;
  const std::size_t size = ZSTD_compress2(static_cast<ZSTD_CCtx*>(compressor_), out.data(), out.size(), in.data(), in.size());
  if (ZSTD_isError(size) == 0) return size;
  if (ZSTD_getErrorCode(size) == ZSTD_error_dstSize_tooSmall) return std::nullopt;
  throw InternalError(fmt::format("a block of a run could not be compressed: {}", ZSTD_getErrorName(size)));
}

bool BlockCoder::decode(BlockCodec codec, std::span<const std::byte> in, std::span<std::byte> out) const {
  if (in.size() > INT_MAX || out.size() > INT_MAX) return false;
  if (codec == BlockCodec::lz4)
    return LZ4_decompress_safe(reinterpret_cast<const char*>(in.data()), reinterpret_cast<char*>(out.data()),
                               static_cast<int>(in.size()), static_cast<int>(out.size())) == static_cast<int>(out.size());
  if (codec != BlockCodec::zstd || decompressor_ == nullptr) return false;
  return ZSTD_decompressDCtx(static_cast<ZSTD_DCtx*>(decompressor_), out.data(), out.size(), in.data(), in.size()) == out.size();
}

}  // namespace ecosort::codec
