// xz and its older format .lzma, by liblzma.
#include <lzma.h>

#include <algorithm>
#include <array>
#include <new>

#include "codec/contents.h"
#include "codec/facts.h"

using std::string_view_literals::operator""sv;

namespace ecosort::codec {
namespace {

void* allocate(void* allowance, std::size_t items, std::size_t size) {
  return static_cast<Allowance*>(allowance)->allocate(items * size);
}

class XzDecoder final : public Decoder {
 public:
  explicit XzDecoder(Allowance& allowance)
      : Decoder(Codec::xz, allowance), memory_{allocate, give_back_to_allowance, &allowance} {
    stream_.allocator = &memory_;
  }
  XzDecoder(const XzDecoder&) = delete;
  XzDecoder& operator=(const XzDecoder&) = delete;
  ~XzDecoder() override { lzma_end(&stream_); }

 private:
  void begin_member(std::string_view head) override {
    const bool is_xz = head.starts_with(magic_of(Codec::xz));
    const lzma_ret made = is_xz ? lzma_stream_decoder(&stream_, UINT64_MAX, 0) : lzma_alone_decoder(&stream_, UINT64_MAX);
    if (made != LZMA_OK) too_large();
  }

  MemberStep step(std::span<const std::byte> in, std::span<std::byte> out) override {
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    stream_.avail_in = in.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    stream_.avail_out = out.size();
    const lzma_ret result = lzma_code(&stream_, LZMA_RUN);
    switch (result) {
      case LZMA_OK:
      case LZMA_BUF_ERROR:
      case LZMA_STREAM_END:
        break;
      case LZMA_MEM_ERROR:
        too_large();
      case LZMA_OPTIONS_ERROR:
        damaged("xz data of a kind that liblzma does not know");
      default:
        damaged("its xz data is corrupt");
    }
    return {in.size() - stream_.avail_in, out.size() - stream_.avail_out, result == LZMA_STREAM_END};
  }

  lzma_allocator memory_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

// Returns what the filters of the first block take; 0: no one knows.
std::uint64_t first_block_bytes(std::string_view first) noexcept {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(first.data());
  lzma_stream_flags flags{};
  if (first.size() <= LZMA_STREAM_HEADER_SIZE || lzma_stream_header_decode(&flags, bytes) != LZMA_OK) return 0;
  const std::uint8_t* const at = bytes + LZMA_STREAM_HEADER_SIZE;
  if (*at == 0) return 0;  // no block: the index
  std::array<lzma_filter, LZMA_FILTERS_MAX + 1> filters{};
  lzma_block block{};
  block.header_size = lzma_block_header_size_decode(*at);
  block.check = flags.check;
  block.filters = filters.data();
  if (first.size() < LZMA_STREAM_HEADER_SIZE + block.header_size || lzma_block_header_decode(&block, nullptr, at) != LZMA_OK)
    return 0;
  const std::uint64_t need = lzma_raw_decoder_memusage(filters.data());
  lzma_filters_free(filters.data(), nullptr);
  return need == UINT64_MAX ? 0 : need;
}

// Returns what the dictionary of .lzma data takes; 0: no one knows.
std::uint64_t lzma_bytes(std::string_view first) noexcept {
  lzma_options_lzma options{};
  if (first.size() <= sizeof options.dict_size || lzma_lzma_preset(&options, LZMA_PRESET_DEFAULT)) return 0;
  options.dict_size = 0;
  for (std::size_t i = sizeof options.dict_size; i > 0; --i)
    options.dict_size = options.dict_size << 8U | static_cast<unsigned char>(first[i]);
  const lzma_filter filters[]{{LZMA_FILTER_LZMA1, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  const std::uint64_t need = lzma_raw_decoder_memusage(filters);
  return need == UINT64_MAX ? 0 : need;
}

std::uint64_t xz_decoder_bytes(std::string_view first) noexcept {
  constexpr std::uint64_t usual = std::uint64_t{9} << 20U, margin = std::uint64_t{64} << 10U;
  const std::uint64_t known = first.starts_with(magic_of(Codec::xz)) ? first_block_bytes(first) : lzma_bytes(first);
  return (known > 0 ? known : usual) + margin;
}

lzma_options_lzma xz_options(int level, std::size_t most_bytes) {
  lzma_options_lzma options{};
  (void)lzma_lzma_preset(&options, static_cast<std::uint32_t>(level));
  const std::size_t enough = std::max<std::size_t>(most_bytes, LZMA_DICT_SIZE_MIN);
  options.dict_size = static_cast<std::uint32_t>(std::min<std::size_t>(options.dict_size, enough));
  return options;
}

class XzEncoder final : public MemberEncoder {
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

std::uint64_t xz_encoder_bytes(int level, std::size_t most_bytes) noexcept {
  lzma_options_lzma options = xz_options(level, most_bytes);
  const std::array<lzma_filter, 2> filters{{{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}}};
  return lzma_raw_encoder_memusage(filters.data());
}

}  // namespace

const CodecFacts xz_facts{
    .name = "xz",
    .ending = ".xz",
    .library = [] { return std::string(lzma_version_string()); },
    .levels = {0, 6, 9},
    .has_skippable_frames = false,
    .decoder_bytes = xz_decoder_bytes,
    .make_decoder = [](Allowance& allowance) -> std::unique_ptr<Decoder> { return std::make_unique<XzDecoder>(allowance); },
    .encoder_bytes = xz_encoder_bytes,
    .encoded_bound = [](std::size_t bytes) noexcept { return lzma_stream_buffer_bound(bytes); },
    .make_encoder = [](int level, std::size_t most_bytes) -> std::unique_ptr<MemberEncoder> {
      return std::make_unique<XzEncoder>(level, most_bytes);
    },
    .magic =
        "\xfd"
        "7zXZ\0"sv,
    .contents = {"xz", "compressed by xz", "decompress it first: xz -dc", Codec::xz},
};

}  // namespace ecosort::codec
