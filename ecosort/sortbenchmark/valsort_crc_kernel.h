// The variants of the CRC-32 sum share the arithmetic of the constants, done by the compiler.
//
// The variants are compiled with different instruction sets, so this header holds nothing that could become a function of its
// own: the linker would keep one copy, perhaps one that other machines cannot run.
//
// Notation: a message is a polynomial over GF(2) in the reflected order of CRC-32: the lowest bit of the first byte is the
// highest power. In a register of n bits, bit i stands for x^(n - 1 - i). The carry-less product of two 64-bit registers is
// a 128-bit register that stands for the product times x.
//
// A record of 100 bytes is W_0 ... W_11, 64 bits each, and a tail T of 32 bits. Without the initial and final inversion,
//   CRC = (W_0 * x^768 + W_1 * x^704 + ... + W_11 * x^64 + T * x^32) mod P,
// and fold_constant(i) is what W_i is multiplied with so that all products can be added in one 128-bit register of degree < 96:
// no product waits for another (the usual folding is a chain). The inversions only flip fixed bits of the result: they are the
// CRC of 100 zero bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ecosort::sortbenchmark::crc {

inline constexpr std::uint32_t polynomial = 0xedb88320;       // CRC-32 (zlib), reflected, without x^32
inline constexpr std::uint64_t polynomial_33 = 0x1db710641;   // with x^32, as a register of 33 bits
inline constexpr std::uint64_t barrett_factor = 0x1f7011641;  // floor(x^64 / P), as a register of 33 bits
inline constexpr std::uint32_t crc_of_zeros = 0x9988c6ca;     // CRC-32 of 100 zero bytes (checked below)

// One step of the register towards higher powers, and back.
consteval std::uint32_t times_x(std::uint32_t value) { return value >> 1 ^ ((value & 1) != 0 ? polynomial : 0); }
consteval std::uint32_t divided_by_x(std::uint32_t value) {
  return (value >> 31) != 0 ? (value ^ polynomial) << 1 | 1 : value << 1;
}

// x^exponent mod P as a 32-bit register; the exponent may be negative, since P has a constant term.
consteval std::uint32_t power_of_x(int exponent) {
  std::uint32_t value = 0x80000000;
  for (; exponent > 0; --exponent) value = times_x(value);
  for (; exponent < 0; ++exponent) value = divided_by_x(value);
  return value;
}

// For word i of a record, as a 64-bit register. 12 is the tail, which is zero-extended to 64 bits; 11 also folds the upper part
// (degree 64 ... 95) of the sum onto the lower 64 bits, because the distance is the same.
consteval std::uint64_t fold_constant(int word) { return std::uint64_t{power_of_x(767 - 64 * word)} << 32; }

consteval bool zeros_have_crc(std::uint32_t expected) {
  std::uint32_t crc = 0xffffffff;
  for (int bit = 0; bit < 800; ++bit) crc = times_x(crc);
  return ~crc == expected;
}
static_assert(zeros_have_crc(crc_of_zeros));

// Sums over `count` < 2^32 records.
std::uint64_t crc_sum_tables(const std::byte* records, std::size_t count) noexcept;  // any machine
#if defined(__x86_64__)
std::uint64_t crc_sum_avx2(const std::byte* records, std::size_t count) noexcept;
std::uint64_t crc_sum_avx512(const std::byte* records, std::size_t count) noexcept;
#endif
#if defined(__aarch64__)
std::uint64_t crc_sum_armv8(const std::byte* records, std::size_t count) noexcept;  // needs the CRC32 instructions
#endif

}  // namespace ecosort::sortbenchmark::crc
