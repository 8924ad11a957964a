#include "codec/encoder.h"

#include "base/errors.h"
#include "codec/facts.h"

namespace ecosort::codec {

Levels levels_of(Codec codec) noexcept { return facts_of(codec).levels; }

std::uint64_t encoder_bytes(const OutputCodec& output, std::size_t most_bytes) noexcept {
  constexpr std::uint64_t margin = std::uint64_t{64} << 10U;
  return margin + facts_of(output.codec).encoder_bytes(output.level, most_bytes);
}

std::size_t encoded_bound(Codec codec, std::size_t bytes) noexcept { return facts_of(codec).encoded_bound(bytes); }

std::string_view ending_member(Codec codec) noexcept { return facts_of(codec).ending_member; }

std::unique_ptr<MemberEncoder> MemberEncoder::make(const OutputCodec& output, std::size_t most_bytes) {
  return facts_of(output.codec).make_encoder(output.level, most_bytes);
}

void MemberEncoder::cannot(Codec codec) {
  throw InternalError(std::string("a block could not be compressed: ") + name_of(codec));
}

}  // namespace ecosort::codec
