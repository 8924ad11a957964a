// The formats by their names: those of the commands that sort them, but for `sort`, which has records.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "ecosort/request.hpp"

namespace ecosort::job {

inline constexpr std::array<std::string_view, 4> format_names{"records", "lines", "csv", "jsonl"};  // in the order of Format

[[nodiscard]] constexpr std::string_view name_of(Format format) noexcept {
  return format_names[static_cast<std::size_t>(format)];
}

}  // namespace ecosort::job
