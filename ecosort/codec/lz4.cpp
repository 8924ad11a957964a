// lz4 frames, by liblz4, which allocates by itself: what a frame takes follows from its head.
#include <lz4.h>
#include <lz4frame.h>

#include <new>

#include "codec/facts.h"

namespace ecosort::codec {
namespace {

// A block of input, one of output, and twice the 64 KiB that blocks may refer back to.
std::uint64_t lz4_decoder_bytes(std::string_view first) noexcept {
  constexpr std::size_t block_size_at = 5;
  constexpr std::uint64_t own = std::uint64_t{132} << 10U, largest = std::uint64_t{4} << 20U;
  const unsigned id = first.size() > block_size_at ? static_cast<unsigned char>(first[block_size_at]) >> 4U & 7U : 7U;
  const std::uint64_t block = id < 4 ? largest : std::uint64_t{1} << (8U + 2U * id);
  return 2 * block + own;
}

class Lz4Decoder final : public Decoder {
 public:
  explicit Lz4Decoder(Allowance& allowance) : Decoder(Codec::lz4, allowance) {
    LZ4F_dctx* context = nullptr;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) != 0) throw std::bad_alloc();
    context_.reset(context);
  }
  Lz4Decoder(const Lz4Decoder&) = delete;
  Lz4Decoder& operator=(const Lz4Decoder&) = delete;
  ~Lz4Decoder() override { allowance_.give(taken_); }

 private:
  struct Free {
    void operator()(LZ4F_dctx* context) const noexcept { LZ4F_freeDecompressionContext(context); }
  };

  // Its buffers stay from frame to frame, and grow.
  void begin_member(std::string_view head) override {
    LZ4F_resetDecompressionContext(context_.get());
    const std::uint64_t need = lz4_decoder_bytes(head);
    if (need <= taken_) return;
    if (!allowance_.take(need - taken_)) too_large();
    taken_ = need;
  }

  MemberStep step(std::span<const std::byte> in, std::span<std::byte> out) override {
    std::size_t taken = in.size(), made = out.size();
    const std::size_t left = LZ4F_decompress(context_.get(), out.data(), &made, in.data(), &taken, nullptr);
    if (LZ4F_isError(left) != 0) damaged(LZ4F_getErrorName(left));
    return {taken, made, left == 0};
  }

  std::unique_ptr<LZ4F_dctx, Free> context_;
  std::uint64_t taken_ = 0;
};

LZ4F_preferences_t lz4_preferences(int level, std::size_t bytes) {
  LZ4F_preferences_t wishes = LZ4F_INIT_PREFERENCES;
  wishes.frameInfo.blockSizeID = bytes <= (64U << 10U)    ? LZ4F_max64KB
                                 : bytes <= (256U << 10U) ? LZ4F_max256KB
                                 : bytes <= (1U << 20U)   ? LZ4F_max1MB
                                                          : LZ4F_max4MB;
  wishes.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
  wishes.frameInfo.contentSize = bytes;
  wishes.compressionLevel = level;
  return wishes;
}

class Lz4Encoder final : public MemberEncoder {
 public:
  explicit Lz4Encoder(int level) : level_(level) {}
  std::size_t encode(std::span<const std::byte> in, std::span<std::byte> out) override {
    const LZ4F_preferences_t wishes = lz4_preferences(level_, in.size());
    const std::size_t size = LZ4F_compressFrame(out.data(), out.size(), in.data(), in.size(), &wishes);
    return LZ4F_isError(size) == 0 ? size : (cannot(Codec::lz4), 0);
  }

 private:
  int level_;
};

}  // namespace

const CodecFacts lz4_facts{
    .name = "lz4",
    .ending = ".lz4",
    .library = [] { return std::string(LZ4_versionString()); },
    .levels = {1, 1, 12},
    .has_skippable_frames = true,
    .decoder_bytes = lz4_decoder_bytes,
    .make_decoder = [](Allowance& allowance) -> std::unique_ptr<Decoder> { return std::make_unique<Lz4Decoder>(allowance); },
    .encoder_bytes = [](int, std::size_t) noexcept { return std::uint64_t{384} << 10U; },
    .encoded_bound =
        [](std::size_t bytes) noexcept {
          const LZ4F_preferences_t wishes = lz4_preferences(1, bytes);
          return LZ4F_compressFrameBound(bytes, &wishes);
        },
    .make_encoder = [](int level, std::size_t) -> std::unique_ptr<MemberEncoder> { return std::make_unique<Lz4Encoder>(level); },
    .magic = "\x04\x22\x4d\x18",
    .contents = {"lz4", "compressed by lz4", "decompress it first: lz4 -dc", Codec::lz4},
};

}  // namespace ecosort::codec
