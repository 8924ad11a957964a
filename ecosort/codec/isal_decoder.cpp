// gzip, by ISA-L, which takes half of zlib's time. It is loaded when the first gzip file comes: Debian has no archive of it, and
// loading a library at every start costs a sort of a small file more than the sorting.
#include <dlfcn.h>
#include <fmt/format.h>
#include <isa-l.h>

#include <algorithm>
#include <optional>

#include "codec/decoder.h"
#include "codec/gzip_header.h"

namespace ecosort::codec {
namespace {

struct Isal {
  decltype(&::isal_inflate_init) init;
  decltype(&::isal_inflate) inflate;
};

// The number in the name changes with the layout of inflate_state, so that no other one is tried.
std::optional<Isal> load() {
  void* const library = ::dlopen(fmt::format("libisal.so.{}", ISAL_MAJOR_VERSION).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  const Isal isal{reinterpret_cast<decltype(Isal::init)>(::dlsym(library, "isal_inflate_init")),
                  reinterpret_cast<decltype(Isal::inflate)>(::dlsym(library, "isal_inflate"))};
  return isal.init != nullptr && isal.inflate != nullptr ? std::optional(isal) : std::nullopt;
}

const std::optional<Isal>& isal() {
  static const std::optional<Isal> loaded = load();
  return loaded;
}

const char* why(int result) {
  switch (result) {
    case ISAL_INVALID_BLOCK:
      return "it holds an invalid block";
    case ISAL_INVALID_SYMBOL:
      return "it holds an invalid symbol";
    case ISAL_INVALID_LOOKBACK:
      return "it refers to bytes before its beginning";
    case ISAL_INCORRECT_CHECKSUM:
      return "its checksum or its length is wrong";
    default:
      return "it is no gzip data";
  }
}

class IsalDecoder final : public Decoder {
 public:
  explicit IsalDecoder(Allowance& allowance)
      : Decoder(Codec::gzip, allowance), state_(static_cast<inflate_state*>(allowance.allocate(sizeof(inflate_state)))) {
    if (state_ == nullptr) too_large();
  }
  IsalDecoder(const IsalDecoder&) = delete;
  IsalDecoder& operator=(const IsalDecoder&) = delete;
  ~IsalDecoder() override { allowance_.give_back(state_); }

 private:
  void begin_member(std::string_view /*head*/) override {
    header_ = {};
    isal_.init(state_);
    state_->crc_flag = ISAL_GZIP_NO_HDR_VER;
  }

  MemberStep step(std::span<const std::byte> in, std::span<std::byte> out) override {
    if (header_.has_ended()) return inflate(in, out);
    const std::size_t taken = header_.take(in);
    if (header_.error() != nullptr) damaged(header_.error());
    return {taken, 0, false};
  }

  MemberStep inflate(std::span<const std::byte> in, std::span<std::byte> out) {
    constexpr std::size_t most = 1U << 30U;
    const auto in_size = static_cast<std::uint32_t>(std::min(in.size(), most));
    const auto out_size = static_cast<std::uint32_t>(std::min(out.size(), most));
    state_->next_in = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(in.data()));
    state_->avail_in = in_size;
    std::uint8_t nowhere = 0;  // it wants an address also for no bytes
    state_->next_out = out_size == 0 ? &nowhere : reinterpret_cast<std::uint8_t*>(out.data());
    state_->avail_out = out_size;
    const int result = isal_.inflate(state_);
    if (result < 0) damaged(why(result));
    return {in_size - state_->avail_in, out_size - state_->avail_out, state_->block_state == ISAL_BLOCK_FINISH};
  }

  const Isal& isal_ = *isal();
  GzipHeader header_;
  inflate_state* state_;
};

}  // namespace

bool has_isal() { return isal().has_value(); }

std::unique_ptr<Decoder> make_isal_decoder(Allowance& allowance) { return std::make_unique<IsalDecoder>(allowance); }

}  // namespace ecosort::codec
