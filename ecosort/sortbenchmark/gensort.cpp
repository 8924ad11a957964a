#include "sortbenchmark/gensort.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

namespace ecosort::sortbenchmark {
namespace {

static_assert(std::endian::native == std::endian::little, "words are assembled from bytes in memory order");

template <class T>
void put(std::byte*& out, T value) noexcept {
  std::memcpy(out, &value, sizeof value);
  out += sizeof value;
}

// --- ASCII records -----------------------------------------------------------------------------------------------------

constexpr std::uint64_t base = 95;  // the printable characters 32 ... 126
constexpr std::uint64_t base2 = base * base;
constexpr std::uint64_t base4 = base2 * base2;

// value / 95 for value < 95^2 without a division, small enough to work on two 32-bit lanes of a word at once.
constexpr std::uint64_t reciprocal = 11038;
constexpr int reciprocal_bits = 20;
constexpr bool reciprocal_is_exact() {
  for (std::uint64_t value = 0; value < base2; ++value) {
    if (value * reciprocal >> reciprocal_bits != value / base) return false;
  }
  return base2 * reciprocal < 1ULL << 32;
}
static_assert(reciprocal_is_exact());

// Four digits of value < 95^4 as bytes, least significant first.
std::uint64_t four_digits(std::uint64_t value) noexcept {
  const std::uint64_t pairs =
      value + value / base2 * ((1ULL << 32) - base2);  // value % 95^2 and, in the upper lane, value / 95^2
  const std::uint64_t upper_digits = (pairs * reciprocal >> reciprocal_bits) & 0x0000007f0000007f;
  const std::uint64_t digits = pairs + upper_digits * ((1 << 8) - base);  // two bytes in each lane
  return (digits | digits >> 16) & 0xffffffff;
}

std::uint64_t eight_key_characters(std::uint64_t value) noexcept {
  const std::uint64_t rest = value / base4;
  return (four_digits(rest % base4) << 32 | four_digits(value - rest * base4)) + 0x2020202020202020;
}

std::uint32_t two_key_characters_and_two_spaces(std::uint64_t value) noexcept {
  const std::uint64_t pair = value % base2, upper_digit = pair * reciprocal >> reciprocal_bits;
  return static_cast<std::uint32_t>(pair + upper_digit * ((1 << 8) - base)) + 0x20202020;
}

// Eight upper-case hexadecimal digits, most significant first in memory: the nibbles are spread to one byte each and turned
// into characters all at once.
std::uint64_t eight_hex_digits(std::uint32_t value) noexcept {
  std::uint64_t x = __builtin_bswap32(value);
  x = (x | x << 16) & 0x0000ffff0000ffff;
  x = (x | x << 8) & 0x00ff00ff00ff00ff;
  x = (x >> 4 | x << 8) & 0x0f0f0f0f0f0f0f0f;
  const std::uint64_t is_letter = ((x + 0x0606060606060606) >> 4) & 0x0101010101010101;
  return x + 0x3030303030303030 + is_letter * ('A' - '9' - 1);
}

// For every byte its two hexadecimal digits, each four times: 0x2A -> "2222AAAA".
constexpr auto quadrupled_hex = [] {
  std::array<std::uint64_t, 256> table{};
  constexpr char digits[] = "0123456789ABCDEF";
  for (std::size_t value = 0; value < table.size(); ++value) {
    const std::uint64_t high = static_cast<unsigned char>(digits[value >> 4]),
                        low = static_cast<unsigned char>(digits[value & 15]);
    table[value] = high * 0x01010101 | (low * 0x01010101) << 32;
  }
  return table;
}();

// The twelve hexadecimal digits of the low 48 bits, each four times.
void put_filler(std::byte*& out, std::uint64_t low) noexcept {
#pragma GCC unroll 6
  for (int shift = 40; shift >= 0; shift -= 8) put(out, quadrupled_hex[low >> shift & 255]);
}

// The 24 leading digits of a record number; they change once in 2^32 records.
using LeadingDigits = std::array<std::uint64_t, 3>;

LeadingDigits leading_digits(uint128 number) noexcept {
  return {eight_hex_digits(static_cast<std::uint32_t>(number >> 96)), eight_hex_digits(static_cast<std::uint32_t>(number >> 64)),
          eight_hex_digits(static_cast<std::uint32_t>(number >> 32))};
}

void put_ascii_record(std::byte* out, const LeadingDigits& leading, std::uint32_t number, const GensortRandom& random) noexcept {
  constexpr std::uint16_t two_spaces = 0x2020, carriage_return_line_feed = 0x0a0d;
  put(out, eight_key_characters(random.high()));
  put(out, two_key_characters_and_two_spaces(random.low()));
  put(out, leading);
  put(out, eight_hex_digits(number));
  put(out, two_spaces);
  put(out, static_cast<std::uint32_t>(quadrupled_hex[random.low() >> 48 & 15] >> 32));
  put_filler(out, random.low());
  put(out, carriage_return_line_feed);
}

// --- binary records ----------------------------------------------------------------------------------------------------

// Block k of a record is the key of the record k further on, XORed with ten constant bytes.
constexpr std::array<unsigned char, gensort_record_bytes> block_masks{
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,  // 0: the key itself
    0xF0, 0xE8, 0xE4, 0xE2, 0xE1, 0xD8, 0xD4, 0xD2, 0xD1, 0xCC,  // 1
    0xCA, 0xC9, 0xC6, 0xC5, 0xC3, 0xB8, 0xB4, 0xB2, 0xB1, 0xAC,  // 2
    0xAA, 0xA9, 0xA6, 0xA5, 0xA3, 0x9C, 0x9A, 0x99, 0x96, 0x95,  // 3
    0x93, 0x8E, 0x8D, 0x8B, 0x87, 0x78, 0x74, 0x72, 0x71, 0x6C,  // 4
    0x6A, 0x69, 0x66, 0x65, 0x63, 0x5C, 0x5A, 0x59, 0x56, 0x55,  // 5
    0x53, 0x4E, 0x4D, 0x4B, 0x47, 0x3C, 0x3A, 0x39, 0x36, 0x35,  // 6
    0x33, 0x2E, 0x2D, 0x2B, 0x27, 0x1E, 0x1D, 0x1B, 0x17, 0x0F,  // 7
    0xC8, 0xC4, 0xC2, 0xC1, 0x98, 0x94, 0x92, 0x91, 0x8C, 0xE0,  // 8
    0x17, 0x0F, 0x33, 0x2E, 0x2D, 0x2B, 0x27, 0x1E, 0x1D, 0x1B,  // 9
};
constexpr std::size_t blocks_per_record = gensort_record_bytes / gensort_key_bytes;

template <class T>
void put_masked(std::byte* out, const std::byte* keys, std::size_t offset) noexcept {
  T value, mask;
  std::memcpy(&value, keys + offset, sizeof value);
  std::memcpy(&mask, block_masks.data() + offset, sizeof mask);
  value ^= mask;
  std::memcpy(out + offset, &value, sizeof value);
}

void put_binary_key(std::byte*& out, const GensortRandom& random) noexcept {
  put(out, __builtin_bswap64(random.high()));
  put(out, __builtin_bswap16(static_cast<std::uint16_t>(random.low() >> 48)));
}

constexpr std::array<unsigned char, 2> teragen_break{0x00, 0x11};
constexpr std::array<unsigned char, 4> teragen_middle{0x88, 0x99, 0xaa, 0xbb}, teragen_end{0xcc, 0xdd, 0xee, 0xff};

void put_teragen_record(std::byte* out, const LeadingDigits& leading, std::uint32_t number,
                        const GensortRandom& random) noexcept {
  put_binary_key(out, random);
  put(out, teragen_break);
  put(out, leading);
  put(out, eight_hex_digits(number));
  put(out, teragen_middle);
  put_filler(out, random.low());
  put(out, teragen_end);
}

bool is_of_teragen(const std::byte* record) noexcept {
  return std::memcmp(record + gensort_key_bytes, teragen_break.data(), teragen_break.size()) == 0 &&
         std::memcmp(record + gensort_record_bytes - teragen_end.size(), teragen_end.data(), teragen_end.size()) == 0;
}

// Block `number` of a record without its mask: the upper 80 bits of a state of the generator.
uint128 state_top(const std::byte* record, std::size_t number) noexcept {
  uint128 top = 0;
  for (std::size_t i = number * gensort_key_bytes; i < (number + 1) * gensort_key_bytes; ++i)
    top = top << 8 | (std::to_integer<unsigned char>(record[i]) ^ block_masks[i]);
  return top;
}

// The nine blocks behind the key are the upper 80 bits of nine states in a row. Differences d of neighbouring states obey
// d' = multiplier * d (mod 2^128), so that the sum of weight_i * d_i is 0 for weights with sum of weight_i * multiplier^i = 0.
// These are the smallest ones that the LLL algorithm finds in that lattice. With the lower 48 bits of the states unknown, the
// same sum over the upper 80 bits (mod 2^80) is smaller than the weights' sum of magnitudes; of anything else once in 2^62.
bool follows_recurrence(const std::byte* record) noexcept {
  constexpr std::array<int, 8> weights{-4931, 10260, 4897, -20521, 14328, 52933, 3442, 6920};
  constexpr unsigned limit = 118232;  // the sum of their magnitudes
  constexpr uint128 modulus = static_cast<uint128>(1) << 80;
  uint128 sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i)
    sum += static_cast<uint128>(std::int64_t{weights[i]}) * (state_top(record, i + 2) - state_top(record, i + 1));
  sum &= modulus - 1;
  return sum < limit || sum > modulus - limit;
}

// --- skewed keys -------------------------------------------------------------------------------------------------------

constexpr std::size_t skew_rows = 129;
using SkewTable = std::array<std::uint64_t, skew_rows>;

// Row i holds the first eight key bytes of the unskewed record i, in memory order; six of them are used at most.
SkewTable make_skew_table(bool ascii) {
  std::vector<std::byte> records(skew_rows * gensort_record_bytes);
  GensortRecords({.ascii = ascii, .skewed = false}, 0).generate(records.data(), skew_rows);
  SkewTable table{};
  for (std::size_t row = 0; row < skew_rows; ++row) {
    std::memcpy(&table[row], records.data() + row * gensort_record_bytes, sizeof table[row]);
  }
  return table;
}

const SkewTable& skew_table(bool ascii) {
  static const SkewTable binary_table = make_skew_table(false), ascii_table = make_skew_table(true);
  return ascii ? ascii_table : binary_table;
}

// Returns which bits of the first eight key bytes, in memory order, come from the table: whole characters,
std::uint64_t ascii_skew_mask(std::uint64_t low) noexcept {
  const std::uint64_t characters = low >> 32 & 7;
  return characters > 6 ? 0 : (std::uint64_t{1} << 8 * characters) - 1;
}

// or leading bits.
std::uint64_t binary_skew_mask(std::uint64_t low) noexcept {
  const std::uint64_t bits = low >> 32 & 63;
  return bits > 48 ? 0 : __builtin_bswap64(~(~std::uint64_t{0} >> bits));
}

// `random` is the state of the first record, `number` its number. Half of the decisions are random, hence no branches.
template <std::uint64_t (*mask_of)(std::uint64_t) noexcept>
void skew_keys(std::byte* records, std::size_t count, const SkewTable& table, uint128 number, GensortRandom random) noexcept {
  for (std::size_t i = 0; i < count; ++i, ++number, random.step()) {
    std::byte* key = records + i * gensort_record_bytes;
    const std::uint64_t mask = mask_of(random.low());
    std::uint64_t head;
    std::memcpy(&head, key, sizeof head);
    head = (head & ~mask) | (table[skew_index(number)] & mask);
    std::memcpy(key, &head, sizeof head);
  }
}

// A quirk of the format: bit length up to 60, but any of the four top bits counts as 64.
unsigned bit_length_with_quirk(std::uint64_t value) noexcept {
  return value >> 60 != 0 ? 64U : static_cast<unsigned>(std::bit_width(value));
}

}  // namespace

bool looks_generated(const std::byte* record) noexcept {
  const bool is_ascii = record[98] == std::byte{'\r'} && record[99] == std::byte{'\n'};
  return is_ascii || is_of_teragen(record) || follows_recurrence(record);
}

unsigned skew_index(uint128 number) noexcept {
  const std::uint64_t high = high_half(number);
  return high != 0 ? 64 + bit_length_with_quirk(high) : bit_length_with_quirk(low_half(number));
}

// x -> a * x + c composed with itself is x -> a^2 * x + (a * c + c): one round per bit of `steps`.
GensortRandom::GensortRandom(uint128 steps) noexcept {
  uint128 a = multiplier, c = increment;
  for (; steps != 0; steps >>= 1) {
    if ((steps & 1) != 0) state_ = a * state_ + c;
    c += a * c;
    a *= a;
  }
}

GensortRecords::GensortRecords(GensortFormat format, uint128 first) noexcept : format_(format), number_(first), random_(first) {
  random_.step();  // a step of its own, since first + 1 may be 2^128
}

void GensortRecords::generate(std::byte* out, std::size_t count) {
  const uint128 first = number_;
  const GensortRandom random = random_;
  if (format_.teragen) return generate_numbered<put_teragen_record>(out, count);
  format_.ascii ? generate_ascii(out, count) : generate_binary(out, count);
  if (!format_.skewed) return;
  const auto skew = format_.ascii ? skew_keys<ascii_skew_mask> : skew_keys<binary_skew_mask>;
  skew(out, count, skew_table(format_.ascii), first, random);
}

void GensortRecords::generate_ascii(std::byte* out, std::size_t count) noexcept {
  generate_numbered<put_ascii_record>(out, count);
}

template <auto put>
void GensortRecords::generate_numbered(std::byte* out, std::size_t count) noexcept {
  GensortRandom random = random_;  // in registers during the loop: what is written through `out` could be a member
  while (count > 0) {
    const auto low = static_cast<std::uint32_t>(number_);
    const std::size_t until_carry = (std::size_t{1} << 32) - low, records = std::min(count, until_carry);
    const LeadingDigits leading = leading_digits(number_);
    for (std::size_t i = 0; i < records; ++i, out += gensort_record_bytes, random.step()) {
      put(out, leading, low + static_cast<std::uint32_t>(i), random);
    }
    number_ += records;
    count -= records;
  }
  random_ = random;
}

// The keys of neighbouring records lie back to back in `keys`, so that a whole record is a window of 100 bytes over them.
void GensortRecords::generate_binary(std::byte* out, std::size_t count) noexcept {
  constexpr std::size_t batch = 256;  // the keys fit the L1 cache
  std::array<std::byte, (batch + blocks_per_record - 1) * gensort_key_bytes> keys;
  number_ += count;
  while (count > 0) {
    const std::size_t records = std::min(count, batch);
    std::byte* end = keys.data();
    for (std::size_t i = 0; i < records; ++i, random_.step()) put_binary_key(end, random_);
    GensortRandom ahead = random_;
    for (std::size_t i = 1; i < blocks_per_record; ++i, ahead.step()) put_binary_key(end, ahead);
    for (std::size_t i = 0; i < records; ++i, out += gensort_record_bytes) {
      const std::byte* window = keys.data() + i * gensort_key_bytes;
      for (std::size_t offset = 0; offset < 96; offset += 8) put_masked<std::uint64_t>(out, window, offset);
      put_masked<std::uint32_t>(out, window, 96);
    }
    count -= records;
  }
}

}  // namespace ecosort::sortbenchmark
