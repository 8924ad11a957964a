// lz4 frames, by liblz4, which allocates by itself: what a frame takes follows from its head.
#include <lz4frame.h>

#include "codec/decoder.h"

namespace ecosort::codec {
namespace {

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

}  // namespace

std::unique_ptr<Decoder> make_lz4_decoder(Allowance& allowance) { return std::make_unique<Lz4Decoder>(allowance); }

// A block of input, one of output, and twice the 64 KiB that blocks may refer back to.
std::uint64_t lz4_decoder_bytes(std::string_view first) noexcept {
  constexpr std::size_t block_size_at = 5;
  constexpr std::uint64_t own = std::uint64_t{132} << 10U, largest = std::uint64_t{4} << 20U;
  const unsigned id = first.size() > block_size_at ? static_cast<unsigned char>(first[block_size_at]) >> 4U & 7U : 7U;
  const std::uint64_t block = id < 4 ? largest : std::uint64_t{1} << (8U + 2U * id);
  return 2 * block + own;
}

}  // namespace ecosort::codec
