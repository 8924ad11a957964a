// zstd, by libzstd.
#define ZSTD_STATIC_LINKING_ONLY  // memory that is counted, and how much a frame takes
#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "codec/facts.h"

namespace ecosort::codec {
namespace {

constexpr int any_window = sizeof(std::size_t) == 8 ? ZSTD_WINDOWLOG_MAX_64 : ZSTD_WINDOWLOG_MAX_32;

void* allocate(void* allowance, std::size_t size) { return static_cast<Allowance*>(allowance)->allocate(size); }

class ZstdDecoder final : public Decoder {
 public:
  explicit ZstdDecoder(Allowance& allowance)
      : Decoder(Codec::zstd, allowance), context_(ZSTD_createDCtx_advanced({allocate, give_back_to_allowance, &allowance})) {
    if (!context_) too_large();
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, any_window);
  }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const noexcept { ZSTD_freeDCtx(context); }
  };

  void begin_member(std::string_view /*head*/) override {
    ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only);
    header_size_ = 0;
  }

  // The header names the dictionary, and comes in pieces.
  void keep_header(std::span<const std::byte> in) noexcept {
    const std::size_t more = std::min(in.size(), sizeof header_ - header_size_);
    if (more > 0) std::memcpy(header_ + header_size_, in.data(), more);
    header_size_ += more;
  }

  MemberStep step(std::span<const std::byte> in, std::span<std::byte> out) override {
    keep_header(in);
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const std::size_t left = ZSTD_decompressStream(context_.get(), &to, &from);
    const ZSTD_ErrorCode error = ZSTD_getErrorCode(left);
    if (error == ZSTD_error_memory_allocation || error == ZSTD_error_frameParameter_windowTooLarge) too_large();
    if (error == ZSTD_error_dstSize_tooSmall || error == ZSTD_error_srcSize_wrong) return {from.pos, to.pos, false};
    if (error == ZSTD_error_dictionary_wrong)
      throw Unreadable(fmt::format("compressed by zstd with a dictionary (ID {}); decompress it first: zstd -dc -D DICTIONARY",
                                   ZSTD_getDictID_fromFrame(header_, header_size_)));
    if (error != ZSTD_error_no_error) damaged(ZSTD_getErrorName(left));
    return {from.pos, to.pos, left == 0};
  }

  std::unique_ptr<ZSTD_DCtx, Free> context_;
  std::byte header_[ZSTD_FRAMEHEADERSIZE_MAX]{};  // of the frame, as much as came
  std::size_t header_size_ = 0;
};

std::uint64_t zstd_decoder_bytes(std::string_view first) noexcept {
  constexpr std::uint64_t usual_window = std::uint64_t{8} << 20U, margin = std::uint64_t{64} << 10U;
  ZSTD_frameHeader header{};
  const bool is_known = ZSTD_getFrameHeader(&header, first.data(), first.size()) == 0 && header.frameType == ZSTD_frame;
  return ZSTD_estimateDStreamSize(static_cast<std::size_t>(is_known ? header.windowSize : usual_window)) + margin;
}

class ZstdEncoder final : public MemberEncoder {
 public:
  explicit ZstdEncoder(int level) : context_(ZSTD_createCCtx()) {
    if (!context_) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
  }
  std::size_t encode(std::span<const std::byte> in, std::span<std::byte> out) override {
    const std::size_t size = ZSTD_compress2(context_.get(), out.data(), out.size(), in.data(), in.size());
    return ZSTD_isError(size) == 0 ? size : (cannot(Codec::zstd), 0);
  }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const noexcept { ZSTD_freeCCtx(context); }
  };
  std::unique_ptr<ZSTD_CCtx, Free> context_;
};

}  // namespace

const CodecFacts zstd_facts{
    .name = "zstd",
    .ending = ".zst",
    .library = [] { return std::string(ZSTD_versionString()); },
    .levels = {1, 3, 19},
    .has_skippable_frames = true,
    .decoder_bytes = zstd_decoder_bytes,
    .make_decoder = [](Allowance& allowance) -> std::unique_ptr<Decoder> { return std::make_unique<ZstdDecoder>(allowance); },
    .encoder_bytes = [](int level, std::size_t most_bytes) noexcept -> std::uint64_t {
      return ZSTD_estimateCCtxSize_usingCParams(ZSTD_getCParams(level, most_bytes, 0));
    },
    .encoded_bound = [](std::size_t bytes) noexcept { return ZSTD_compressBound(bytes); },
    .make_encoder = [](int level, std::size_t) -> std::unique_ptr<MemberEncoder> { return std::make_unique<ZstdEncoder>(level); },
    .magic = "\x28\xb5\x2f\xfd",
    .contents = {"zstd", "compressed by zstd", "decompress it first: zstd -dc", Codec::zstd},
};

}  // namespace ecosort::codec
