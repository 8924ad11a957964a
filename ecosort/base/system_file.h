// Small files in which the system describes itself (/proc, /sys): read at once and taken apart without streams, whose locale and
// buffers cost the sort of a small file more than the reading.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ecosort {

// Appends all that there is to read from an open file; false: an error ended it.
[[nodiscard]] bool read_to_end(int fd, std::string& text);

// All that the file holds; empty where it cannot be read.
[[nodiscard]] std::string read_system_file(const std::string& path);

// Returns the number that a text, or a file, begins with; none where there is no such number.
[[nodiscard]] std::optional<std::uint64_t> number_of(std::string_view text) noexcept;
[[nodiscard]] std::optional<std::uint64_t> read_system_number(const std::string& path);

// Takes the next line off the text; empty at its end.
[[nodiscard]] std::string_view take_line(std::string_view& text) noexcept;
// Takes the next word off the text, which blanks or the end of a line follow; empty where there is none.
[[nodiscard]] std::string_view take_word(std::string_view& text) noexcept;

}  // namespace ecosort
