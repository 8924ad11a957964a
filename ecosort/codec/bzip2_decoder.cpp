// bzip2, by libbz2.
#include <bzlib.h>

#include <algorithm>

#include "codec/decoder.h"

namespace ecosort::codec {
namespace {

void* allocate(void* allowance, int items, int size) {
  return static_cast<Allowance*>(allowance)->allocate(static_cast<std::size_t>(items) * static_cast<std::size_t>(size));
}

class Bzip2Decoder final : public Decoder {
 public:
  explicit Bzip2Decoder(Allowance& allowance) : Decoder(Codec::bzip2, allowance) {}
  Bzip2Decoder(const Bzip2Decoder&) = delete;
  Bzip2Decoder& operator=(const Bzip2Decoder&) = delete;
  ~Bzip2Decoder() override { end(); }

 private:
  void end() noexcept {
    if (is_open_) BZ2_bzDecompressEnd(&stream_);
    is_open_ = false;
  }

  void begin_member(std::string_view /*head*/) override {
    end();
    stream_ = {};
    stream_.bzalloc = allocate;
    stream_.bzfree = give_back_to_allowance;
    stream_.opaque = &allowance_;
    if (BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) too_large();
    is_open_ = true;
  }

  MemberStep step(std::span<const std::byte> in, std::span<std::byte> out) override {
    constexpr std::size_t most = 1U << 30U;
    const auto in_size = static_cast<unsigned>(std::min(in.size(), most)),
               out_size = static_cast<unsigned>(std::min(out.size(), most));
    stream_.next_in = const_cast<char*>(reinterpret_cast<const char*>(in.data()));
    stream_.avail_in = in_size;
    stream_.next_out = reinterpret_cast<char*>(out.data());
    stream_.avail_out = out_size;
    const int result = BZ2_bzDecompress(&stream_);
    if (result == BZ_MEM_ERROR) too_large();
    if (result == BZ_DATA_ERROR_MAGIC) damaged("it does not continue as bzip2 data does");
    if (result != BZ_OK && result != BZ_STREAM_END) damaged("its bzip2 data is corrupt");
    return {in_size - stream_.avail_in, out_size - stream_.avail_out, result == BZ_STREAM_END};
  }

  bz_stream stream_{};
  bool is_open_ = false;
};

}  // namespace

std::unique_ptr<Decoder> make_bzip2_decoder(Allowance& allowance) { return std::make_unique<Bzip2Decoder>(allowance); }

// bzip2(1), MEMORY MANAGEMENT: 100 kB and four times the block.
std::uint64_t bzip2_decoder_bytes(std::string_view first) noexcept {
  constexpr std::size_t digit_at = 3;
  constexpr std::uint64_t own = 100'000, each = 400'000, most_digit = 9;
  const bool is_known = first.size() > digit_at && first[digit_at] >= '1' && first[digit_at] <= '9';
  return own + each * (is_known ? static_cast<std::uint64_t>(first[digit_at] - '0') : most_digit);
}

}  // namespace ecosort::codec
