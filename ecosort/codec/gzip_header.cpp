#include "codec/gzip_header.h"

#include <libdeflate.h>

namespace ecosort::codec {
namespace {

constexpr unsigned has_checksum = 2, has_extra = 4, has_name = 8, has_comment = 16, reserved = 0xe0;
constexpr std::size_t start_bytes = 10, method_at = 2, flags_at = 3, number_bytes = 2;
constexpr unsigned deflated = 8;

}  // namespace

std::size_t GzipHeader::take(std::span<const std::byte> in) {
  std::size_t taken = 0;
  while (taken < in.size() && !has_ended() && error_ == nullptr) {
    const bool is_checksum = part_ == Part::checksum;
    take_byte(std::to_integer<unsigned char>(in[taken]));
    if (!is_checksum) crc_ = libdeflate_crc32(crc_, &in[taken], 1);
    ++taken;
  }
  return taken;
}

void GzipHeader::take_byte(unsigned byte) {
  const std::size_t at = bytes_of_part_++;
  switch (part_) {
    case Part::start:
      if (at == method_at && byte != deflated) error_ = "it is compressed by a method that gzip does not know";
      if (at == flags_at) flags_ = byte;
      if (at == flags_at && (byte & reserved) != 0) error_ = "its header has flags that gzip does not know";
      if (at + 1 == start_bytes) begin(Part::extra_size);
      return;
    case Part::extra_size:
      number_ |= byte << (8 * at);
      if (at + 1 == number_bytes) begin(number_ > 0 ? Part::extra : Part::name);
      return;
    case Part::extra:
      if (at + 1 == number_) begin(Part::name);
      return;
    case Part::name:
      if (byte == 0) begin(Part::comment);
      return;
    case Part::comment:
      if (byte == 0) begin(Part::checksum);
      return;
    case Part::checksum:
      number_ |= byte << (8 * at);
      if (at + 1 < number_bytes) return;
      if (number_ != (crc_ & 0xffffU)) error_ = "the checksum of its header is wrong";
      begin(Part::none);
      return;
    case Part::none:
      return;
  }
}

// The next part that is there.
void GzipHeader::begin(Part part) {
  bytes_of_part_ = 0;
  if (part != Part::extra) number_ = 0;
  if (part == Part::extra_size && (flags_ & has_extra) == 0) part = Part::name;
  if (part == Part::name && (flags_ & has_name) == 0) part = Part::comment;
  if (part == Part::comment && (flags_ & has_comment) == 0) part = Part::checksum;
  if (part == Part::checksum && (flags_ & has_checksum) == 0) part = Part::none;
  part_ = part;
}

}  // namespace ecosort::codec
