// Compression of blocks: each becomes a member of its own, which any decoder of the codec takes, alone or behind others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "codec/codec.h"

namespace ecosort::codec {

struct Levels {
  int least, usual, most;
};
[[nodiscard]] Levels levels_of(Codec codec) noexcept;

// Returns what an encoder of blocks of up to `most_bytes` takes.
[[nodiscard]] std::uint64_t encoder_bytes(const OutputCodec& output, std::size_t most_bytes) noexcept;
// Most bytes that a block of so many becomes.
[[nodiscard]] std::size_t encoded_bound(Codec codec, std::size_t bytes) noexcept;

// Returns the member that an output of the codec ends with; empty where any member may be the last one.
[[nodiscard]] std::string_view ending_member(Codec codec) noexcept;

// One thread at a time.
class MemberEncoder {
 public:
  // std::bad_alloc.
  [[nodiscard]] static std::unique_ptr<MemberEncoder> make(const OutputCodec& output, std::size_t most_bytes);
  MemberEncoder(const MemberEncoder&) = delete;
  MemberEncoder& operator=(const MemberEncoder&) = delete;
  virtual ~MemberEncoder() = default;

  // Writes `in`, at most `most_bytes`, as one member to `out`, which has encoded_bound() bytes. Returns its bytes. InternalError.
  [[nodiscard]] virtual std::size_t encode(std::span<const std::byte> in, std::span<std::byte> out) = 0;

 protected:
  MemberEncoder() = default;
  [[noreturn]] static void cannot(Codec codec);
};

}  // namespace ecosort::codec
