#include "formats/records/key_word.h"

#include <algorithm>

namespace ecosort::records {
namespace {

constexpr std::uint64_t top_bit = std::uint64_t{1} << 63U;
constexpr std::uint64_t each_byte = 0x0101010101010101;

template <class Number>
std::uint64_t load_part(const std::byte* bytes) {
  Number number = 0;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}

// The first `size` (1 to 7) bytes as a little-endian number. Two loads that overlap agree where they do.
std::uint64_t load_short(const std::byte* bytes, unsigned size) {
  if (size >= 4) return load_part<std::uint32_t>(bytes) | load_part<std::uint32_t>(bytes + size - 4) << (8 * (size - 4));
  if (size >= 2) return load_part<std::uint16_t>(bytes) | load_part<std::uint16_t>(bytes + size - 2) << (8 * (size - 2));
  return load_part<std::uint8_t>(bytes);
}

// Eight characters at a time: a byte gets its top bit in `from_a` if it is 'a' or more, in `above_z` if it is above 'z'; its own
// top bit, which no ASCII letter has, is left out of these sums, so that they carry nothing into the next byte.
std::uint64_t fold_letters(std::uint64_t text) {
  const std::uint64_t low_bits = text & ~(each_byte * 0x80);
  const std::uint64_t from_a = low_bits + each_byte * (0x80 - 'a');
  const std::uint64_t above_z = low_bits + each_byte * (0x7f - 'z');
  const std::uint64_t small_letters = (from_a ^ above_z) & ~text & (each_byte * 0x80);
  return text ^ small_letters >> 2U;  // 0x80 >> 2: the bit in which 'a' and 'A' differ
}

std::uint64_t fold_floating(std::uint64_t number, std::uint64_t infinity, std::uint64_t field_mask) {
  const std::uint64_t magnitude = number & ~top_bit;
  if (magnitude > infinity) return field_mask;  // NaN
  return (number & top_bit) != 0 ? ~number & field_mask : number | top_bit;
}

}  // namespace

std::uint64_t KeyWord::load(const std::byte* record) const noexcept {
  std::uint64_t word = loaded == 8 ? load_little_endian_64(record + at) : load_short(record + at, loaded);
  if (!little_endian) word = __builtin_bswap64(word);
  word <<= shift;
  if (fold == Fold::letters) word = fold_letters(word);
  if (fold == Fold::floating) word = fold_floating(word & field_mask, infinity, field_mask);
  return (word ^ flip) << lift & mask;
}

KeyWord make_key_word(const RecordKey& field, std::uint32_t record_size, std::uint64_t skip, std::uint64_t bytes) noexcept {
  KeyWord word;
  word.loaded = static_cast<std::uint8_t>(std::min<std::uint32_t>(record_size, 8));
  if (bytes == 0) return word;  // mask 0: all padding
  const bool is_text = field.type == RecordKeyType::bytes || field.type == RecordKeyType::nocase;
  word.mask = ~std::uint64_t{0} << (64 - 8 * bytes);
  word.flip = field.descends ? ~std::uint64_t{0} : 0;
  const std::uint64_t wanted = field.offset + (is_text ? skip : 0);
  const std::uint64_t at = std::min<std::uint64_t>(wanted, record_size - word.loaded);
  word.at = static_cast<std::uint32_t>(at);
  word.shift = static_cast<std::uint32_t>(8 * (wanted - at));
  if (field.type == RecordKeyType::nocase) word.fold = KeyWord::Fold::letters;
  if (is_text) return word;
  if (field.type == RecordKeyType::signed_integer) word.flip ^= top_bit;
  word.little_endian = !field.is_big_endian;
  if (word.little_endian) word.shift = static_cast<std::uint32_t>(64 - 8 * (wanted - at + field.length));
  word.field_mask = ~std::uint64_t{0} << (64 - 8 * field.length);
  word.lift = static_cast<std::uint32_t>(8 * skip);
  if (field.type == RecordKeyType::floating) {
    word.fold = KeyWord::Fold::floating;
    word.infinity = field.length == 4 ? std::uint64_t{0x7f800000} << 32U : std::uint64_t{0x7ff} << 52U;
  }
  return word;
}

}  // namespace ecosort::records
