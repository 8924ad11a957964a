// All formats name the bytes of a row or of a part of it so; parts of file names.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace ecosort {

// Lies elsewhere, without the byte that ends rows. Texts compare as unsigned bytes.
using Text = std::string_view;

[[nodiscard]] constexpr char to_lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Returns whether a file is named so. `ending` is in small letters, which those of the name need not be: SHOP.CSV.
[[nodiscard]] constexpr bool has_ending(std::string_view name, std::string_view ending) noexcept {
  return name.size() >= ending.size() && std::ranges::equal(name.substr(name.size() - ending.size()), ending, {}, to_lower);
}

// Returns the directory of a job that outlives a crash, beside its output.
[[nodiscard]] inline std::string job_directory_of(const std::string& output) { return output + ".ecosort"; }

// Returns the directory in which a file of this name is.
[[nodiscard]] inline std::string directory_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  const std::size_t last = path.find_last_not_of('/', slash);
  return last == std::string_view::npos ? "/" : std::string(path.substr(0, last + 1));
}

}  // namespace ecosort
