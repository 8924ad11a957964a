#include "records/encoder.h"

#include <algorithm>
#include <bit>

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

// The number of leading bytes in which a and b agree.
std::uint64_t mismatch_at(const std::byte* a, const std::byte* b, std::uint64_t length) {
  std::uint64_t same = 0;
  for (; same + sizeof(std::uint64_t) <= length; same += sizeof(std::uint64_t)) {
    const std::uint64_t difference = load_big_endian_64(a + same) ^ load_big_endian_64(b + same);
    if (difference != 0) return same + static_cast<unsigned>(std::countl_zero(difference)) / 8;
  }
  return static_cast<std::uint64_t>(std::mismatch(a + same, a + length, b + same).first - a);
}

// The three shapes of extraction; each is a copy in registers, since the entries written could alias the encoder.

// A single ascending field of at least eight bytes with twelve bytes left in the record: the key of the Sort Benchmark.
struct PlainKey {
  std::size_t at;
  std::uint32_t extension_mask;

  Entry operator()(const std::byte* record, std::uint32_t index) const noexcept {
    std::uint32_t extension = 0;
    std::memcpy(&extension, record + at + sizeof(std::uint64_t), sizeof extension);
    return {load_big_endian_64(record + at), __builtin_bswap32(extension) & extension_mask, index};
  }
};

struct WordKey {
  Encoder::Word prefix;
  Encoder::Word extension;

  Entry operator()(const std::byte* record, std::uint32_t index) const noexcept {
    return {prefix.load(record), static_cast<std::uint32_t>(extension.load(record) >> 32U), index};
  }
};

struct AnyKey {
  const Encoder& encoder;

  Entry operator()(const std::byte* record, std::uint32_t index) const noexcept {
    return {encoder.prefix(record), encoder.extension(record), index};
  }
};

template <class KeyOf>
void extract_with(KeyOf key_of, const std::byte* records, std::size_t stride, std::size_t count, std::uint32_t first_index,
                  Entry* out) noexcept {
  for (std::size_t i = 0; i < count; ++i) out[i] = key_of(records + i * stride, first_index + static_cast<std::uint32_t>(i));
}

}  // namespace

Encoder::Encoder(const RecordFormat& format) : record_size_(format.record_size) {
  check_record_format(format);
  fields_ = join_adjacent(format.keys);
  for (const KeyField& field : fields_) key_length_ += field.length;
  if (record_size_ < word_bytes) return;  // read byte by byte
  is_word_key_ = fields_.size() == 1;
  prefix_pieces_ = make_pieces(0, word_bytes);
  extension_pieces_ = make_pieces(word_bytes, window_bytes - word_bytes);
  if (!is_word_key_) return;
  prefix_word_ = word_at(0);
  extension_word_ = word_at(word_bytes);
  extension_word_.mask &= ~std::uint64_t{0xffffffff};
}

Encoder::Word Encoder::field_word(const KeyField& field, std::uint64_t skip, std::uint64_t bytes) const noexcept {
  Word word;
  const std::uint64_t wanted = field.offset + skip;
  const std::uint64_t at = std::min<std::uint64_t>(wanted, record_size_ - word_bytes);
  word.at = static_cast<std::uint32_t>(at);
  word.shift = static_cast<std::uint32_t>(8 * (wanted - at));
  word.flip = field.descending ? ~std::uint64_t{0} : 0;
  word.mask = ~std::uint64_t{0} << (64 - 8 * bytes);
  return word;
}

Encoder::Word Encoder::word_at(std::uint64_t skip) const noexcept {
  if (skip >= key_length_) return {};  // mask 0: all padding
  return field_word(fields_.front(), skip, std::min<std::uint64_t>(key_length_ - skip, word_bytes));
}

std::vector<Encoder::Piece> Encoder::make_pieces(std::uint64_t skip, std::uint64_t bytes) const {
  std::vector<Piece> pieces;
  std::uint64_t filled = 0;
  for (const KeyField& field : fields_) {
    const std::uint64_t left = field.length - std::min<std::uint64_t>(skip, field.length);
    const std::uint64_t taken = std::min(left, bytes - filled);
    if (taken > 0) pieces.push_back({field_word(field, skip, taken), static_cast<std::uint32_t>(8 * filled)});
    skip -= field.length - left;
    filled += taken;
  }
  return pieces;
}

std::uint64_t Encoder::joined(const std::vector<Piece>& pieces, const std::byte* record, std::uint64_t skip) const noexcept {
  if (record_size_ < word_bytes) return window(record, skip).prefix;
  std::uint64_t key = 0;
  for (const Piece& piece : pieces) key |= piece.word.load(record) >> piece.drop;
  return key;
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
  if (!encoder.is_word_key()) return extract_with(AnyKey{encoder}, records, stride, count, first_index, out);
  const Encoder::Word prefix = encoder.word_at(0);
  const Encoder::Word extension = encoder.word_at(sizeof(std::uint64_t));
  const bool plain = prefix.shift == 0 && prefix.flip == 0 && ~prefix.mask == 0 && prefix.at + Encoder::window_bytes <= stride;
  if (!plain) return extract_with(WordKey{prefix, extension}, records, stride, count, first_index, out);
  extract_with(PlainKey{prefix.at, static_cast<std::uint32_t>(extension.mask >> 32U)}, records, stride, count, first_index, out);
}

}  // namespace ecosort::records
