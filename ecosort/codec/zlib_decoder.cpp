// gzip, by zlib: where ISA-L is not installed.
#include <zlib.h>

#include "base/errors.h"
#include "codec/decoder.h"

namespace ecosort::codec {
namespace {

voidpf allocate(voidpf allowance, uInt items, uInt size) {
  return static_cast<Allowance*>(allowance)->allocate(std::size_t{items} * size);
}

class ZlibDecoder final : public Decoder {
 public:
  explicit ZlibDecoder(Allowance& allowance) : Decoder(Codec::gzip, allowance) {
    constexpr int gzip_alone = 16;  // added to the logarithm of the window: a header of gzip, no other
    stream_.zalloc = allocate;
    stream_.zfree = give_back_to_allowance;
    stream_.opaque = &allowance;
    if (inflateInit2(&stream_, gzip_alone + MAX_WBITS) != Z_OK) too_large();
  }
  ZlibDecoder(const ZlibDecoder&) = delete;
  ZlibDecoder& operator=(const ZlibDecoder&) = delete;
  ~ZlibDecoder() override { inflateEnd(&stream_); }

 private:
  void begin_member(std::string_view /*head*/) override { inflateReset(&stream_); }

  MemberStep step(std::span<const std::byte> in, std::span<std::byte> out) override {
    constexpr std::size_t most = 1U << 30U;
    const auto in_size = static_cast<uInt>(std::min(in.size(), most)), out_size = static_cast<uInt>(std::min(out.size(), most));
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(in.data()));
    stream_.avail_in = in_size;
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = out_size;
    Bytef nowhere = 0;  // it wants an address also for no bytes
    if (out_size == 0) stream_.next_out = &nowhere;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_MEM_ERROR) too_large();
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
      damaged(stream_.msg != nullptr ? stream_.msg : "it is no gzip data");
    return {in_size - stream_.avail_in, out_size - stream_.avail_out, result == Z_STREAM_END};
  }

  z_stream stream_{};
};

}  // namespace

std::unique_ptr<Decoder> make_zlib_decoder(Allowance& allowance) { return std::make_unique<ZlibDecoder>(allowance); }

}  // namespace ecosort::codec
