#define ZSTD_STATIC_LINKING_ONLY  // how much memory a context takes
#include "codec/encoder.h"

#include <bzlib.h>
#include <libdeflate.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <new>

#include "base/errors.h"

namespace ecosort::codec {
namespace {

[[noreturn]] void cannot(Codec codec) { throw InternalError(std::string("a block could not be compressed: ") + name_of(codec)); }

class GzipEncoder final : public Encoder {
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

class ZstdEncoder final : public Encoder {
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

class Lz4Encoder final : public Encoder {
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

lzma_options_lzma xz_options(int level, std::size_t most_bytes) {
  lzma_options_lzma options{};
  (void)lzma_lzma_preset(&options, static_cast<std::uint32_t>(level));
  const std::size_t enough = std::max<std::size_t>(most_bytes, LZMA_DICT_SIZE_MIN);
  options.dict_size = static_cast<std::uint32_t>(std::min<std::size_t>(options.dict_size, enough));
  return options;
}

class XzEncoder final : public Encoder {
 public:
  XzEncoder(int level, std::size_t most_bytes) : options_(xz_options(level, most_bytes)) {}
  std::size_t encode(std::span<const std::byte> in, std::span<std::byte> out) override {
    std::array<lzma_filter, 2> filters{{{LZMA_FILTER_LZMA2, &options_}, {LZMA_VLI_UNKNOWN, nullptr}}};
    std::size_t size = 0;
    const lzma_ret result =
        lzma_stream_buffer_encode(filters.data(), LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(in.data()),
                                  in.size(), reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size());
    if (result == LZMA_MEM_ERROR) throw std::bad_alloc();
    return result == LZMA_OK ? size : (cannot(Codec::xz), 0);
  }

 private:
  lzma_options_lzma options_;
};

// The level is the size of a block; one larger than what it gets would only cost memory.
int bzip2_level(int level, std::size_t most_bytes) {
  constexpr std::size_t unit = 100'000;
  return static_cast<int>(std::clamp<std::size_t>(most_bytes / unit + 1, 1, static_cast<std::size_t>(level)));
}

class Bzip2Encoder final : public Encoder {
 public:
  Bzip2Encoder(int level, std::size_t most_bytes) : level_(bzip2_level(level, most_bytes)) {}
  std::size_t encode(std::span<const std::byte> in, std::span<std::byte> out) override {
    auto size = static_cast<unsigned>(out.size());
    char nothing = 0;  // it wants an address also for no bytes
    char* const from = in.empty() ? &nothing : const_cast<char*>(reinterpret_cast<const char*>(in.data()));
    const int result = BZ2_bzBuffToBuffCompress(reinterpret_cast<char*>(out.data()), &size, from,
                                                static_cast<unsigned>(in.size()), level_, 0, 0);
    if (result == BZ_MEM_ERROR) throw std::bad_alloc();
    return result == BZ_OK ? size : (cannot(Codec::bzip2), 0);
  }

 private:
  int level_;
};

std::uint64_t xz_encoder_bytes(int level, std::size_t most_bytes) {
  lzma_options_lzma options = xz_options(level, most_bytes);
  const std::array<lzma_filter, 2> filters{{{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}}};
  return lzma_raw_encoder_memusage(filters.data());
}

}  // namespace

Levels levels_of(Codec codec) noexcept {
  switch (codec) {
    case Codec::gzip:
      return {1, 6, 12};
    case Codec::zstd:
      return {1, 3, 19};
    case Codec::lz4:
      return {1, 1, 12};
    case Codec::xz:
      return {0, 6, 9};
    case Codec::bzip2:
      return {1, 9, 9};
  }
  return {};
}

std::uint64_t encoder_bytes(const OutputCodec& output, std::size_t most_bytes) noexcept {
  constexpr std::uint64_t margin = std::uint64_t{64} << 10U;
  // Measured: libdeflate 1.14.
  constexpr std::uint64_t deflate_first_bytes = 205'456, deflate_bytes = 671'744, deflate_best_bytes = 9'011'200;
  constexpr std::uint64_t lz4_bytes = std::uint64_t{384} << 10U;
  constexpr int first_best_level = 10;
  switch (output.codec) {
    case Codec::gzip:
      if (output.level >= first_best_level) return margin + deflate_best_bytes;
      return margin + (output.level == 1 ? deflate_first_bytes : deflate_bytes);
    case Codec::zstd:
      return margin + ZSTD_estimateCCtxSize_usingCParams(ZSTD_getCParams(output.level, most_bytes, 0));
    case Codec::lz4:
      return margin + lz4_bytes;
    case Codec::xz:
      return margin + xz_encoder_bytes(output.level, most_bytes);
    case Codec::bzip2:  // bzip2(1), MEMORY MANAGEMENT
      return margin + 400'000 + 800'000 * static_cast<std::uint64_t>(bzip2_level(output.level, most_bytes));
  }
  return 0;
}

std::size_t encoded_bound(Codec codec, std::size_t bytes) noexcept {
  switch (codec) {
    case Codec::gzip:
      return libdeflate_gzip_compress_bound(nullptr, bytes);
    case Codec::zstd:
      return ZSTD_compressBound(bytes);
    case Codec::lz4: {
      const LZ4F_preferences_t wishes = lz4_preferences(1, bytes);
      return LZ4F_compressFrameBound(bytes, &wishes);
    }
    case Codec::xz:
      return lzma_stream_buffer_bound(bytes);
    case Codec::bzip2:  // bzlib manual: 1 % and 600 bytes
      return bytes + bytes / 100 + 601;
  }
  return 0;
}

std::unique_ptr<Encoder> Encoder::make(const OutputCodec& output, std::size_t most_bytes) {
  switch (output.codec) {
    case Codec::gzip:
      return std::make_unique<GzipEncoder>(output.level);
    case Codec::zstd:
      return std::make_unique<ZstdEncoder>(output.level);
    case Codec::lz4:
      return std::make_unique<Lz4Encoder>(output.level);
    case Codec::xz:
      return std::make_unique<XzEncoder>(output.level, most_bytes);
    case Codec::bzip2:
      return std::make_unique<Bzip2Encoder>(output.level, most_bytes);
  }
  throw InternalError("a codec that no one knows");
}

}  // namespace ecosort::codec
