// Sizes as people write and read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ecosort {

// "1.50 GiB", "64 KiB", "100 bytes".
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);
// "1.50 GiB (1610612736 bytes)".
[[nodiscard]] std::string exact_bytes(std::uint64_t bytes);
// The shortest exact size that parse_bytes() reads: "256MiB", "1000000B".
[[nodiscard]] std::string size_word(std::uint64_t bytes);

// "1 byte is left over", "42 bytes are left over".
[[nodiscard]] std::string left_over_text(std::uint64_t bytes);

// "4GiB", "64MiB", "10GB", "4096". "512k"? No: a suffix must say which thousand it means (kB, MB, GB, TB, PB, EB; KiB, MiB, GiB,
// TiB, PiB, EiB). UsageError naming `option` for anything else, overflow included.
[[nodiscard]] std::uint64_t parse_bytes(std::string_view text, std::string_view option);

// Reads the size of an input that is not there and is only planned for. UsageError for more than can be planned for, too.
inline constexpr std::uint64_t most_input_bytes = std::uint64_t{1} << 60U;
[[nodiscard]] std::uint64_t parse_assumed_bytes(std::string_view text, std::string_view option);

}  // namespace ecosort
