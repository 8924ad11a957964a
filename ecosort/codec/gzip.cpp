// gzip: libdeflate encodes it; ISA-L decodes it where it is installed, and zlib elsewhere.
#include <fmt/format.h>
#include <libdeflate.h>
#ifdef ECOSORT_ISAL
#include <isa-l.h>
#endif
#include <zlib.h>

#include <new>

#include "codec/facts.h"

namespace ecosort::codec {
namespace {

#ifdef ECOSORT_ISAL
constexpr std::uint64_t gzip_decoder_bytes = 86 << 10U;  // twice the window of 32 KiB, and tables; zlib takes less
std::unique_ptr<Decoder> make_gzip_decoder(Allowance& allowance) {
  return has_isal() ? make_isal_decoder(allowance) : make_zlib_decoder(allowance);
}
std::string gzip_decoder_version() {
  if (!has_isal()) return fmt::format("zlib {}", zlibVersion());
  return fmt::format("ISA-L {}.{}.{}", ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION, ISAL_PATCH_VERSION);
}
#else
constexpr std::uint64_t gzip_decoder_bytes = 48 << 10U;  // 32 KiB of window
constexpr auto make_gzip_decoder = make_zlib_decoder;
std::string gzip_decoder_version() { return fmt::format("zlib {}", zlibVersion()); }
#endif

class GzipEncoder final : public MemberEncoder {
 public:
  explicit GzipEncoder(int level) : compressor_(libdeflate_alloc_compressor(level)) {
    if (!compressor_) throw std::bad_alloc();
  }
  std::size_t encode(std::span<const std::byte> in, std::span<std::byte> out) override {
    const std::size_t size = libdeflate_gzip_compress(compressor_.get(), in.data(), in.size(), out.data(), out.size());
    return size > 0 ? size : (cannot(Codec::gzip), 0);
  }

 private:
  struct Free {
    void operator()(libdeflate_compressor* compressor) const noexcept { libdeflate_free_compressor(compressor); }
  };
  std::unique_ptr<libdeflate_compressor, Free> compressor_;
};

std::uint64_t gzip_encoder_bytes(int level) noexcept {
  // Measured: libdeflate 1.14.
  constexpr std::uint64_t first_bytes = 205'456, usual_bytes = 671'744, best_bytes = 9'011'200;
  constexpr int first_best_level = 10;
  if (level >= first_best_level) return best_bytes;
  return level == 1 ? first_bytes : usual_bytes;
}

}  // namespace

const CodecFacts gzip_facts{
    .name = "gzip",
    .ending = ".gz",
    .library = [] { return fmt::format("({}, libdeflate {})", gzip_decoder_version(), LIBDEFLATE_VERSION_STRING); },
    .levels = {1, 6, 12},
    .has_skippable_frames = false,
    .decoder_bytes = [](std::string_view) noexcept { return gzip_decoder_bytes; },
    .make_decoder = make_gzip_decoder,
    .encoder_bytes = [](int level, std::size_t) noexcept { return gzip_encoder_bytes(level); },
    .encoded_bound = [](std::size_t bytes) noexcept { return libdeflate_gzip_compress_bound(nullptr, bytes); },
    .make_encoder = [](int level, std::size_t) -> std::unique_ptr<MemberEncoder> { return std::make_unique<GzipEncoder>(level); },
    .magic = "\x1f\x8b",
    .contents = {"gzip", "compressed by gzip", "decompress it first: gzip -dc", Codec::gzip},
    .agrees = [](std::string_view first) noexcept { return first.size() > 2 && first[2] == 8; },  // it is deflated
};

}  // namespace ecosort::codec
