// BGZF: gzip in blocks of at most 64 KiB, each a member that says its size, with an empty one at the end. tabix and samtools
// index it, and every gzip reads it. (SAM specification, section 4.1.)
//
//   member   | header 12 | BC 2 0 size-1 | deflated, at most 65280 bytes of text | CRC-32 | bytes of text |
#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "base/memory.h"
#include "codec/facts.h"

namespace ecosort::codec {
namespace {

constexpr std::size_t text_bytes = 0xff00;  // of a member, as bgzip has it: what cannot be compressed still fits
constexpr std::size_t most_member_bytes = std::size_t{64} << 10U;
constexpr std::size_t trailer_bytes = 8;

// gzip with an extra field of 6 bytes, of no time, from an unknown system.
constexpr std::array<unsigned char, 18> member_header{0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 6, 0, 'B', 'C', 2, 0, 0, 0};
// The empty member that says that the file is whole.
constexpr std::string_view end_member("\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0\x1b\0\x03\0\0\0\0\0\0\0\0\0", 28);

template <class Number>
void put(std::byte* at, Number number) noexcept {
  for (std::size_t i = 0; i < sizeof number; ++i) at[i] = static_cast<std::byte>(number >> 8 * i);
}

std::size_t bound(std::size_t bytes) noexcept { return std::max<std::size_t>(div_up(bytes, text_bytes), 1) * most_member_bytes; }

class BgzfEncoder final : public MemberEncoder {
 public:
  explicit BgzfEncoder(int level) : compressor_(libdeflate_alloc_compressor(level)), stored_(libdeflate_alloc_compressor(0)) {
    if (!compressor_ || !stored_) throw std::bad_alloc();
  }
  std::size_t encode(std::span<const std::byte> in, std::span<std::byte> out) override {
    std::size_t size = 0;
    for (; !in.empty(); in = in.subspan(std::min(in.size(), text_bytes)))
      size += encode_member(in.first(std::min(in.size(), text_bytes)), out.data() + size);
    return size;
  }

 private:
  struct Free {
    void operator()(libdeflate_compressor* compressor) const noexcept { libdeflate_free_compressor(compressor); }
  };
  using Compressor = std::unique_ptr<libdeflate_compressor, Free>;

  std::size_t encode_member(std::span<const std::byte> in, std::byte* out) {
    constexpr std::size_t room = most_member_bytes - member_header.size() - trailer_bytes;
    std::byte* const at = out + member_header.size();
    std::size_t deflated = libdeflate_deflate_compress(compressor_.get(), in.data(), in.size(), at, room);
    if (deflated == 0) deflated = libdeflate_deflate_compress(stored_.get(), in.data(), in.size(), at, room);
    if (deflated == 0) cannot(Codec::bgzf);
    const std::size_t size = member_header.size() + deflated + trailer_bytes;
    std::memcpy(out, member_header.data(), member_header.size());
    put(out + member_header.size() - 2, static_cast<std::uint16_t>(size - 1));
    put(at + deflated, libdeflate_crc32(0, in.data(), in.size()));
    put(at + deflated + 4, static_cast<std::uint32_t>(in.size()));
    return size;
  }

  Compressor compressor_, stored_;  // stored: for what the other makes longer
};

}  // namespace

const CodecFacts bgzf_facts{
    .name = "bgzf",
    .ending = ".bgz",
    .library = [] { return fmt::format("(libdeflate {})", LIBDEFLATE_VERSION_STRING); },
    .levels = {1, 6, 12},
    .has_skippable_frames = false,
    .decoder_bytes = [](std::string_view first) noexcept { return gzip_facts.decoder_bytes(first); },
    .make_decoder = [](Allowance& allowance) { return gzip_facts.make_decoder(allowance); },
    .encoder_bytes =
        [](int level, std::size_t most_bytes) noexcept {
          constexpr std::uint64_t stored_bytes = std::uint64_t{64} << 10U;
          return gzip_facts.encoder_bytes(level, most_bytes) + stored_bytes;
        },
    .encoded_bound = bound,
    .make_encoder = [](int level, std::size_t) -> std::unique_ptr<MemberEncoder> { return std::make_unique<BgzfEncoder>(level); },
    .ending_member = end_member,
};

}  // namespace ecosort::codec
