// Bytes that order values: values compare as their bytes do, as unsigned characters.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

#include "base/text.h"

namespace ecosort::lines {

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
  fmt::basic_memory_buffer<char, 200> bytes_;
};

}  // namespace ecosort::lines
