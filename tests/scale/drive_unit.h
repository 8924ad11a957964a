// A unit of the drive, 64 KiB, as what it can be made from again: a sort writes records, zeros and a few bytes of its own.
//
//   packed unit | base: 8 bytes | width: 1 | parts: 1 | part, part, ... | bytes that are no records | numbers less the base |
//   part          kind: 1 | count: 2                                                                  `width` bits each
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "scale/numbered_records.h"

namespace ecosort::scale {

inline constexpr std::size_t unit_bytes = std::size_t{64} << 10U;
// A packed unit takes at most that: its records have numbers below `records`; then there are some bytes around them.
[[nodiscard]] constexpr std::size_t slot_bytes(std::uint64_t records) noexcept {
  constexpr std::size_t most_of_a_unit = unit_bytes / record_bytes + 1, others = 192;
  return (most_of_a_unit * static_cast<std::size_t>(std::bit_width(records)) + 7) / 8 + others;
}
using Slot = std::array<std::byte, slot_bytes(most_records) + 16>;

struct Unit {
  enum class Kind : std::uint8_t {
    zeros,   // nothing else
    stream,  // the bytes of the file of all records from `place` on
    packed,  // `size` bytes in its slot
    plain,   // as it is
  };
  std::uint64_t place = 0;
  std::uint16_t size = 0;
  Kind kind = Kind::zeros;
  Keys keys = Keys::uniform;  // of all its records
};

// `slot` is filled where the unit is packed: where it takes `most` bytes at most.
[[nodiscard]] Unit pack(const std::byte* bytes, Slot& slot, std::size_t most) noexcept;
// Unpacks a unit that is not plain.
void unpack(const Unit& unit, const Slot& slot, std::byte* bytes) noexcept;

}  // namespace ecosort::scale
