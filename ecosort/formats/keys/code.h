// Makes bytes that order the values of a type.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/text.h"
#include "ecosort/request.hpp"

namespace ecosort::keys {

// Holds the bytes of one value; most have room within it.
class Code {
 public:
  void add(Text bytes) { bytes_.append(bytes.data(), bytes.data() + bytes.size()); }
  void add(unsigned byte) { bytes_.push_back(static_cast<char>(byte)); }
  // The lowest `count` bytes of the number, the highest one first.
  void add_number(std::uint64_t number, unsigned count) {
    while (count-- > 0) add(static_cast<unsigned>(number >> 8 * count & 0xffU));
  }
  // Turns the order of the bytes from this one on around.
  void complement_from(std::size_t place) noexcept {
    for (; place < bytes_.size(); ++place) bytes_[place] = static_cast<char>(~bytes_[place]);
  }
  // Has so many bytes, which the caller writes from data() on.
  void resize(std::size_t bytes) { bytes_.resize(bytes); }
  [[nodiscard]] char* data() noexcept { return bytes_.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
  [[nodiscard]] Text bytes() const noexcept { return {bytes_.data(), bytes_.size()}; }

 private:
  fmt::basic_memory_buffer<char, 120> bytes_;
};

// Adds the bytes of a value, at least one, to a code that has none; returns false for a value that cannot be read as one of the
// type. Thread-safe.
using Coder = std::function<bool(Text value, Code& code)>;

// Returns the coder of the key's type and its argument; null where Key knows the type. UsageError for an argument that means
// nothing.
[[nodiscard]] Coder coder_of(const ValueKey& key);

// NOLINTBEGIN(cppcoreguidelines-macro-usage): one function for each row of the table
#define ECOSORT_PLAIN(type, name, argument, text)
#define ECOSORT_CODED(type, name, argument, text) [[nodiscard]] bool code_##type(Text value, Code& code);
ECOSORT_VALUE_TYPES(ECOSORT_PLAIN, ECOSORT_CODED)
#undef ECOSORT_CODED
#undef ECOSORT_PLAIN
// NOLINTEND(cppcoreguidelines-macro-usage)

// Coders of types with an argument.
[[nodiscard]] Coder list_coder(const std::string& values);
[[nodiscard]] Coder written_number_coder(const std::string& dialect);

[[nodiscard]] inline bool has_decimal_comma(const ValueKey& key) {
  return key.type == ValueType::number && key.argument == "decimal=,";
}

// Returns whether the texts are equal where letters of either case are, and `small` has small ones.
[[nodiscard]] bool is_word(Text text, Text small) noexcept;

}  // namespace ecosort::keys
