// Eight bytes of one key field, read from a record in one load: the step that every typed key of fixed width shares.
//
// A number becomes bytes that compare like its values: big-endian, the sign bit of an integer flipped, a floating-point number
// with its sign flipped where it is positive and all bits where it is negative. A descending field is complemented.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "formats/records/key_spec.h"

namespace ecosort::records {

static_assert(std::endian::native == std::endian::little);

inline std::uint64_t load_little_endian_64(const std::byte* bytes) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

inline std::uint64_t load_big_endian_64(const std::byte* bytes) noexcept {
  return __builtin_bswap64(load_little_endian_64(bytes));
}

// Up to eight key bytes of one field at the top of a word, without leaving the record. Where fewer than eight bytes follow in the
// record, the load starts earlier and the shift drops what lies before. A record of less than eight bytes is loaded as if zeros
// followed.
struct KeyWord {
  enum class Fold : std::uint8_t { none, letters, floating };

  std::uint32_t at = 0;          // byte of the record
  std::uint32_t shift = 0;       // bits; moves the field to the top
  std::uint64_t flip = 0;        // all ones for a descending field; the sign bit of a signed one
  std::uint64_t mask = 0;        // the key bytes wanted
  std::uint64_t field_mask = 0;  // the bytes of a number
  std::uint64_t infinity = 0;    // of a floating-point number, at the top
  std::uint32_t lift = 0;        // bits of a number that come before the key bytes wanted
  std::uint8_t loaded = 8;       // bytes
  bool little_endian = false;
  Fold fold = Fold::none;

  // Returns whether load_big_endian or load_little_endian does all that load does.
  [[nodiscard]] bool is_plain() const noexcept { return loaded == 8 && fold == Fold::none && lift == 0; }

  [[nodiscard]] std::uint64_t load_big_endian(const std::byte* record) const noexcept {
    return ((load_big_endian_64(record + at) << shift) ^ flip) & mask;
  }
  [[nodiscard]] std::uint64_t load_little_endian(const std::byte* record) const noexcept {
    return ((load_little_endian_64(record + at) << shift) ^ flip) & mask;
  }
  [[nodiscard]] std::uint64_t load(const std::byte* record) const noexcept;
};

// Key bytes skip ... skip + bytes - 1 (bytes <= 8) of a field that is not `dec`, in records of this size. For a number they end
// with the number at the latest.
[[nodiscard]] KeyWord make_key_word(const RecordKey& field, std::uint32_t record_size, std::uint64_t skip,
                                    std::uint64_t bytes) noexcept;

}  // namespace ecosort::records
