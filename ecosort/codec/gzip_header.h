// The header of a gzip member, which ISA-L leaves to us.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ecosort::codec {

// Reads the header in front of the data of a member (RFC 1952, section 2.3), whatever pieces it comes in. ISA-L 2.30 refuses a
// header with a checksum that comes in pieces.
class GzipHeader {
 public:
  [[nodiscard]] bool has_ended() const noexcept { return part_ == Part::none; }
  [[nodiscard]] const char* error() const noexcept { return error_; }  // null: none yet

  // Takes the bytes that belong to it.
  [[nodiscard]] std::size_t take(std::span<const std::byte> in);

 private:
  enum class Part { start, extra_size, extra, name, comment, checksum, none };

  void take_byte(unsigned byte);
  void begin(Part part);

  Part part_ = Part::start;
  std::size_t bytes_of_part_ = 0;
  unsigned flags_ = 0, number_ = 0;  // the number that is read: a size, a checksum
  std::uint32_t crc_ = 0;
  const char* error_ = nullptr;
};

}  // namespace ecosort::codec
