// bzip2, by libbz2.
#include <bzlib.h>

#include <algorithm>
#include <new>

#include "codec/facts.h"

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

// bzip2(1), MEMORY MANAGEMENT: 100 kB and four times the block.
std::uint64_t bzip2_decoder_bytes(std::string_view first) noexcept {
  constexpr std::size_t digit_at = 3;
  constexpr std::uint64_t own = 100'000, each = 400'000, most_digit = 9;
  const bool is_known = first.size() > digit_at && first[digit_at] >= '1' && first[digit_at] <= '9';
  return own + each * (is_known ? static_cast<std::uint64_t>(first[digit_at] - '0') : most_digit);
}

// The level is the size of a block; one larger than what it gets would only cost memory.
int bzip2_level(int level, std::size_t most_bytes) {
  constexpr std::size_t unit = 100'000;
  return static_cast<int>(std::clamp<std::size_t>(most_bytes / unit + 1, 1, static_cast<std::size_t>(level)));
}

class Bzip2Encoder final : public MemberEncoder {
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

// Behind the size of its blocks, a file of bzip2 has the digits of pi, or of its root where it holds nothing.
bool has_blocks_of_bzip2(std::string_view first) noexcept {
  constexpr std::size_t at = 4, size = 6;
  if (first.size() < at + size || first[3] < '1' || first[3] > '9') return false;
  return first.substr(at, size) == "1AY&SY" || first.substr(at, size) == "\x17\x72\x45\x38\x50\x90";
}

}  // namespace

const CodecFacts bzip2_facts{
    .name = "bzip2",
    .ending = ".bz2",
    .library =
        [] {
          const std::string version = BZ2_bzlibVersion();
          return version.substr(0, version.find(','));
        },
    .levels = {1, 9, 9},
    .has_skippable_frames = false,
    .decoder_bytes = bzip2_decoder_bytes,
    .make_decoder = [](Allowance& allowance) -> std::unique_ptr<Decoder> { return std::make_unique<Bzip2Decoder>(allowance); },
    .encoder_bytes =
        [](int level, std::size_t most_bytes) noexcept {  // bzip2(1), MEMORY MANAGEMENT
          return 400'000 + 800'000 * static_cast<std::uint64_t>(bzip2_level(level, most_bytes));
        },
    .encoded_bound = [](std::size_t bytes) noexcept { return bytes + bytes / 100 + 601; },  // the manual: 1 % and 600 bytes
    .make_encoder = [](int level, std::size_t most_bytes) -> std::unique_ptr<MemberEncoder> {
      return std::make_unique<Bzip2Encoder>(level, most_bytes);
    },
    .magic = "BZh",
    .contents = {"bzip2", "compressed by bzip2", "decompress it first: bzip2 -dc", Codec::bzip2},
    .agrees = has_blocks_of_bzip2,
};

}  // namespace ecosort::codec
