// Numbers and texts as bytes of a file, one behind the other, and back: every number 8 bytes, little-endian; a text its length
// and then its bytes. The reader stays within its bytes, whatever they are.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ecosort {

static_assert(std::endian::native == std::endian::little);

inline constexpr std::uint64_t no_byte = 256;  // in the place of a byte that is not there

class ByteWriter {
 public:
  void add(std::uint64_t value) { append(&value, sizeof value); }
  void add_byte(std::optional<char> byte) { add(byte ? std::uint64_t{static_cast<unsigned char>(*byte)} : no_byte); }
  void add(const std::string& text) { add_sized(text.data(), text.size()); }
  void add(const std::vector<std::byte>& data) { add_sized(data.data(), data.size()); }
  void append(const void* data, std::size_t size) {
    const auto* const from = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), from, from + size);
  }
  [[nodiscard]] const std::vector<std::byte>& bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void add_sized(const void* data, std::size_t size) {
    add(std::uint64_t{size});
    append(data, size);
  }
  std::vector<std::byte> bytes_;
};

// Calls `fail`, which throws, for bytes that are too few or hold what cannot be. The bytes outlive it.
class ByteReader {
 public:
  using Fail = void (*)();

  ByteReader(std::span<const std::byte> bytes, Fail fail) : bytes_(bytes), fail_(fail) {}

  std::uint64_t next() {
    std::uint64_t value = 0;
    require(bytes_.size() >= sizeof value);
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_ = bytes_.subspan(sizeof value);
    return value;
  }
  std::uint64_t next_below(std::uint64_t limit) {
    const std::uint64_t value = next();
    require(value < limit);
    return value;
  }
  // A number that must fit 32 bits.
  std::uint32_t next_32() { return static_cast<std::uint32_t>(next_below(std::uint64_t{UINT32_MAX} + 1)); }
  std::optional<char> next_byte_or_none() {
    const std::uint64_t byte = next_below(no_byte + 1);
    return byte == no_byte ? std::nullopt : std::optional(static_cast<char>(byte));
  }
  bool next_flag() { return next_below(2) != 0; }
  // Reads how many items of `size` bytes or more follow.
  std::uint64_t next_count(std::size_t size) {
    const std::uint64_t count = next();
    require(count <= bytes_.size() / size);
    return count;
  }
  std::vector<std::byte> next_bytes() {
    const std::span<const std::byte> data = next_span();
    return {data.begin(), data.end()};
  }
  std::string next_text() {
    const std::span<const std::byte> data = next_span();
    return {reinterpret_cast<const char*>(data.data()), data.size()};
  }
  [[nodiscard]] bool has_more() const noexcept { return !bytes_.empty(); }
  void end() const { require(bytes_.empty()); }
  void require(bool holds) const {
    if (!holds) fail_();
  }

 private:
  std::span<const std::byte> next_span() {
    const std::uint64_t count = next_count(1);
    const std::span<const std::byte> data = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return data;
  }

  std::span<const std::byte> bytes_;
  Fail fail_;
};

}  // namespace ecosort
