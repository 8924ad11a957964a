#include "records/encoder.h"

#include <algorithm>

namespace ecosort::records {
namespace {

// Adjacent fields of one direction are one field: 0:4 and 4:6 sort like 0:10.
std::vector<KeyField> join_adjacent(const std::vector<KeyField>& fields) {
  std::vector<KeyField> joined;
  for (const KeyField& field : fields) {
    const bool continues = !joined.empty() && joined.back().offset + joined.back().length == field.offset &&
                           joined.back().descending == field.descending;
    if (continues) {
      joined.back().length += field.length;
    } else {
      joined.push_back(field);
    }
  }
  return joined;
}

std::uint64_t mismatch_at(const std::byte* a, const std::byte* b, std::uint64_t length) {
  return static_cast<std::uint64_t>(std::mismatch(a, a + length, b).first - a);
}

}  // namespace

Encoder::Encoder(const RecordFormat& format) : record_size_(format.record_size) {
  check_record_format(format);
  fields_ = join_adjacent(format.keys);
  for (const KeyField& field : fields_) key_length_ += field.length;
  is_word_key_ = fields_.size() == 1 && record_size_ >= sizeof(std::uint64_t);
  if (!is_word_key_) return;
  prefix_word_ = word_at(0);
  extension_word_ = word_at(sizeof(std::uint64_t));
  extension_word_.mask &= ~std::uint64_t{0xffffffff};
}

Encoder::Word Encoder::word_at(std::uint64_t skip) const noexcept {
  Word word;
  if (skip >= key_length_) return word;  // mask 0: all padding
  const KeyField& field = fields_.front();
  const std::uint64_t wanted = field.offset + skip;
  const std::uint64_t at = std::min<std::uint64_t>(wanted, record_size_ - sizeof(std::uint64_t));
  const std::uint64_t present = std::min<std::uint64_t>(key_length_ - skip, sizeof(std::uint64_t));
  word.at = static_cast<std::uint32_t>(at);
  word.shift = static_cast<std::uint32_t>(8 * (wanted - at));
  word.flip = field.descending ? ~std::uint64_t{0} : 0;
  word.mask = ~std::uint64_t{0} << (64 - 8 * present);
  return word;
}

KeyWindow Encoder::window(const std::byte* record, std::uint64_t skip) const noexcept {
  if (is_word_key_) {
    return {word_at(skip).load(record), static_cast<std::uint32_t>(word_at(skip + sizeof(std::uint64_t)).load(record) >> 32U)};
  }
  std::byte bytes[16] = {};
  std::uint64_t filled = 0;
  for (const KeyField& field : fields_) {
    if (skip >= field.length) {
      skip -= field.length;
      continue;
    }
    const std::uint64_t taken = std::min<std::uint64_t>(field.length - skip, window_bytes - filled);
    const std::byte flip{field.descending ? std::uint8_t{0xff} : std::uint8_t{0}};
    for (std::uint64_t i = 0; i < taken; ++i) bytes[filled + i] = record[field.offset + skip + i] ^ flip;
    filled += taken;
    skip = 0;
    if (filled == window_bytes) break;
  }
  return {load_big_endian_64(bytes), static_cast<std::uint32_t>(load_big_endian_64(bytes + 8) >> 32U)};
}

int Encoder::compare(const std::byte* a, const std::byte* b) const noexcept {
  for (const KeyField& field : fields_) {
    const int order = std::memcmp(a + field.offset, b + field.offset, field.length);
    if (order != 0) return field.descending == (order < 0) ? 1 : -1;
  }
  return 0;
}

const std::byte* Encoder::key_byte(const std::byte* record, std::uint64_t skip) const noexcept {
  for (const KeyField& field : fields_) {
    if (skip < field.length) return record + field.offset + skip;
    skip -= field.length;
  }
  return record + fields_.back().offset + fields_.back().length - 1;
}

std::uint64_t Encoder::common_key_bytes(const std::byte* a, const std::byte* b, std::uint64_t skip) const noexcept {
  std::uint64_t common = 0;
  for (const KeyField& field : fields_) {
    const std::uint64_t known = std::min<std::uint64_t>(skip, field.length);
    skip -= known;
    const std::uint64_t start = field.offset + known;
    const std::uint64_t left = field.length - known;
    const std::uint64_t same = mismatch_at(a + start, b + start, left);
    common += known + same;
    if (same < left) break;
  }
  return common;
}

void extract(const Encoder& encoder, const std::byte* records, std::size_t count, std::uint32_t first_index,
             Entry* out) noexcept {
  const std::size_t stride = encoder.record_size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* record = records + i * stride;
    out[i] = {encoder.prefix(record), encoder.extension(record), first_index + static_cast<std::uint32_t>(i)};
  }
}

}  // namespace ecosort::records
