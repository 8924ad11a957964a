// Unsigned 128-bit integers: record numbers, counts and sums of the gensort format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ecosort {

__extension__ using uint128 = unsigned __int128;

[[nodiscard]] constexpr uint128 make_uint128(std::uint64_t high, std::uint64_t low) noexcept { return uint128{high} << 64 | low; }
[[nodiscard]] constexpr std::uint64_t high_half(uint128 value) noexcept { return static_cast<std::uint64_t>(value >> 64); }
[[nodiscard]] constexpr std::uint64_t low_half(uint128 value) noexcept { return static_cast<std::uint64_t>(value); }

[[nodiscard]] std::string to_decimal(uint128 value);
[[nodiscard]] std::string to_hex(uint128 value);  // lower case, no prefix, no leading zeros; 0 is "0"

// Reads digits only. Empty optional: another character, no digit at all, or a value of 2^128 or more.
[[nodiscard]] std::optional<uint128> parse_decimal(std::string_view text);
[[nodiscard]] bool is_decimal(std::string_view text) noexcept;  // one or more of 0-9 and nothing else

}  // namespace ecosort
