#include "formats/records/encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "formats/records/cobol_number.h"
#include "formats/records/code_page.h"
#include "formats/records/decimal_key.h"

namespace ecosort::records {
namespace {

// Bytes of the key are those of the field one by one.
bool is_text(const RecordKey& field) {
  return field.type == RecordKeyType::bytes || field.type == RecordKeyType::nocase || code_page_of(field.type) != nullptr;
}

// A FieldReader makes the key's bytes, and no KeyWord.
bool is_parsed(const RecordKey& field) {
  return field.type == RecordKeyType::dec || CobolNumber::is_type(field.type) || code_page_of(field.type) != nullptr;
}

std::uint64_t key_bytes_of(const RecordKey& field) {
  if (field.type == RecordKeyType::dec) return DecimalKey::key_bytes(field.length);
  return CobolNumber::is_type(field.type) ? CobolNumber::key_bytes(field.type, field.length) : field.length;
}

RecordKey simplest(RecordKey field) {
  const bool has_byte_order = field.length > 1 && !is_text(field) && !is_parsed(field);
  if (!has_byte_order) field.is_big_endian = true;
  if (field.type == RecordKeyType::unsigned_integer && field.is_big_endian) field.type = RecordKeyType::bytes;
  return field;
}

// Adjacent fields of bytes of one kind and direction are one field: 0:4 and 4:6 sort like 0:10.
std::vector<RecordKey> join_adjacent(const std::vector<RecordKey>& fields) {
  std::vector<RecordKey> joined;
  for (const RecordKey& given : fields) {
    const RecordKey field = simplest(given);
    const bool continues = !joined.empty() && joined.back().offset + joined.back().length == field.offset &&
                           joined.back().descends == field.descends && joined.back().type == field.type && is_text(field);
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

// A single field of at least eight bytes, ascending, with twelve bytes left in the record: the key of the Sort Benchmark. Like
// the readers a copy in registers, since the entries written could alias the encoder.
struct PlainKey {
  std::size_t at;
  std::uint32_t extension_mask;

  sorting::Entry operator()(const std::byte* record, std::uint32_t index) const noexcept {
    std::uint32_t extension = 0;
    std::memcpy(&extension, record + at + sizeof(std::uint64_t), sizeof extension);
    return {load_big_endian_64(record + at), __builtin_bswap32(extension) & extension_mask, index};
  }
};

template <class Reader>
struct WordKey {
  Reader prefix;
  Reader extension;

  sorting::Entry operator()(const std::byte* record, std::uint32_t index) const noexcept {
    return {prefix(record), static_cast<std::uint32_t>(extension(record) >> 32U), index};
  }
};

// A key that one word holds.
template <class Reader>
struct ShortKey {
  Reader prefix;

  sorting::Entry operator()(const std::byte* record, std::uint32_t index) const noexcept { return {prefix(record), 0, index}; }
};

struct AnyKey {
  const Encoder& encoder;

  sorting::Entry operator()(const std::byte* record, std::uint32_t index) const noexcept {
    const KeyWindow window = encoder.first_window(record);
    return {window.prefix, window.extension, index};
  }
};

template <class KeyOf>
void extract_with(KeyOf key_of, const std::byte* records, std::size_t stride, std::size_t count, std::uint32_t first_index,
                  sorting::Entry* out) noexcept {
  for (std::size_t i = 0; i < count; ++i) out[i] = key_of(records + i * stride, first_index + static_cast<std::uint32_t>(i));
}

}  // namespace

// The key bytes of one field of one record, eight at a time.
class Encoder::FieldReader {
 public:
  FieldReader(const Field& field, std::uint32_t record_size, const std::byte* record)
      : field_(field), record_size_(record_size), record_(record), code_page_(code_page_of(field.key.type)) {
    const std::byte* const at = record + field.key.offset;
    if (field.key.type == RecordKeyType::dec) decimal_.emplace(at, field.key.length);
    if (CobolNumber::is_type(field.key.type)) cobol_.emplace(field.key.type, at, field.key.length);
  }

  // Key bytes skip ... skip+7 of the field, zero-padded beyond it; skip is below its key bytes.
  [[nodiscard]] std::uint64_t word(std::uint64_t skip) const {
    const std::uint64_t bytes = std::min<std::uint64_t>(field_.key_bytes - skip, word_bytes);
    if (!is_parsed(field_.key)) return make_key_word(field_.key, record_size_, skip, bytes).load(record_);
    const std::uint64_t flip = field_.key.descends ? ~std::uint64_t{0} : 0;
    return (parsed_word(skip, bytes) ^ flip) & ~std::uint64_t{0} << (64 - 8 * bytes);
  }

 private:
  [[nodiscard]] std::uint64_t parsed_word(std::uint64_t skip, std::uint64_t bytes) const {
    if (decimal_) return decimal_->word(skip);
    if (cobol_) return cobol_->word(skip);
    std::uint64_t word = 0;
    for (std::uint64_t i = skip; i < skip + bytes; ++i)
      word = word << 8U | (*code_page_)[std::to_integer<std::size_t>(record_[field_.key.offset + i])];
    return word << (64 - 8 * bytes);
  }

  const Field& field_;
  std::uint32_t record_size_;
  const std::byte* record_;
  const CodePage* code_page_;
  std::optional<DecimalKey> decimal_;
  std::optional<CobolNumber> cobol_;
};

Encoder::Encoder(const RecordFormat& format) : record_size_(format.record_size) {
  check_record_format(format);
  bool has_parsed = false;
  for (const RecordKey& field : join_adjacent(format.keys)) {
    has_parsed |= is_parsed(field);
    may_refuse_ |= CobolNumber::is_type(field.type);
    fields_.push_back({field, key_bytes_of(field)});
    key_length_ += fields_.back().key_bytes;
  }
  if (has_parsed) return;  // window() parses it
  if (fields_.size() > 1) {
    prefix_pieces_ = make_pieces(0, word_bytes);
    extension_pieces_ = make_pieces(word_bytes, window_bytes - word_bytes);
    return;
  }
  prefix_word_ = word_at(0);
  extension_word_ = word_at(word_bytes);
  extension_word_.mask &= ~std::uint64_t{0xffffffff};
  shape_ = !prefix_word_.is_plain() ? Shape::word : prefix_word_.little_endian ? Shape::little_endian : Shape::big_endian;
}

KeyWord Encoder::word_at(std::uint64_t skip) const noexcept {
  const Field& field = fields_.front();
  skip = std::min(skip, field.key_bytes);
  return make_key_word(field.key, record_size_, skip, std::min<std::uint64_t>(field.key_bytes - skip, word_bytes));
}

std::vector<Encoder::Piece> Encoder::make_pieces(std::uint64_t skip, std::uint64_t bytes) const {
  std::vector<Piece> pieces;
  std::uint64_t filled = 0;
  for (const Field& field : fields_) {
    const std::uint64_t left = field.key_bytes - std::min<std::uint64_t>(skip, field.key_bytes);
    const std::uint64_t taken = std::min(left, bytes - filled);
    if (taken > 0)
      pieces.push_back({make_key_word(field.key, record_size_, skip, taken), static_cast<std::uint32_t>(8 * filled)});
    skip -= field.key_bytes - left;
    filled += taken;
  }
  return pieces;
}

std::uint64_t Encoder::any_prefix(const std::byte* record) const noexcept {
  return shape_ == Shape::fields ? first_window(record).prefix : prefix_word_.load(record);
}

KeyWindow Encoder::first_window(const std::byte* record) const noexcept {
  if (shape_ != Shape::fields) {
    return {prefix_word_.load(record), static_cast<std::uint32_t>(extension_word_.load(record) >> 32U)};
  }
  if (prefix_pieces_.empty()) return window(record, 0);
  std::uint64_t prefix = 0;
  std::uint64_t extension = 0;
  for (const Piece& piece : prefix_pieces_) prefix |= piece.word.load(record) >> piece.drop;
  for (const Piece& piece : extension_pieces_) extension |= piece.word.load(record) >> piece.drop;
  return {prefix, static_cast<std::uint32_t>(extension >> 32U)};
}

KeyWindow Encoder::window(const std::byte* record, std::uint64_t skip) const noexcept {
  if (shape_ != Shape::fields) {
    return {word_at(skip).load(record), static_cast<std::uint32_t>(word_at(skip + word_bytes).load(record) >> 32U)};
  }
  std::uint64_t words[2] = {};
  std::uint64_t filled = 0;
  for (const Field& field : fields_) {
    if (skip >= field.key_bytes) {
      skip -= field.key_bytes;
      continue;
    }
    const FieldReader reader(field, record_size_, record);
    for (; skip < field.key_bytes && filled < window_bytes; skip += word_bytes) {
      const std::uint64_t word = reader.word(skip);
      if (const std::uint64_t above = filled % word_bytes; above == 0) {
        words[filled / word_bytes] |= word;
      } else {
        words[filled / word_bytes] |= word >> (8 * above);
        if (filled < word_bytes) words[1] |= word << (64 - 8 * above);
      }
      filled += std::min<std::uint64_t>(field.key_bytes - skip, word_bytes);
    }
    if (filled >= window_bytes) break;
    skip = 0;
  }
  return {words[0], static_cast<std::uint32_t>(words[1] >> 32U)};
}

int Encoder::compare(const std::byte* a, const std::byte* b) const noexcept {
  for (const Field& field : fields_) {
    if (field.key.type == RecordKeyType::bytes) {
      const int order = std::memcmp(a + field.key.offset, b + field.key.offset, field.key.length);
      if (order != 0) return field.key.descends == (order < 0) ? 1 : -1;
      continue;
    }
    const FieldReader reader_a(field, record_size_, a), reader_b(field, record_size_, b);
    for (std::uint64_t skip = 0; skip < field.key_bytes; skip += word_bytes) {
      const std::uint64_t word_a = reader_a.word(skip), word_b = reader_b.word(skip);
      if (word_a != word_b) return word_a < word_b ? -1 : 1;
    }
  }
  return 0;
}

std::size_t Encoder::first_refused(const std::byte* records, std::size_t count) const noexcept {
  if (!may_refuse_) return count;
  for (std::size_t i = 0; i < count; ++i)
    if (refused_field(records + i * record_size_) != nullptr) return i;
  return count;
}

const Encoder::Field* Encoder::refused_field(const std::byte* record) const noexcept {
  for (const Field& field : fields_) {
    const RecordKey& key = field.key;
    if (CobolNumber::is_type(key.type) && !CobolNumber(key.type, record + key.offset, key.length).is_valid()) return &field;
  }
  return nullptr;
}

std::string Encoder::why_refused(const std::byte* record) const {
  constexpr std::uint32_t most_shown = 16;  // bytes
  const RecordKey& key = refused_field(record)->key;
  std::string shown;
  for (std::uint32_t i = 0; i < std::min(key.length, most_shown); ++i)
    shown += fmt::format("{:02X}", std::to_integer<unsigned>(record[key.offset + i]));
  return fmt::format("its key {} holds {}{}, which is no number", to_string(key), shown, key.length > most_shown ? "..." : "");
}

const std::byte* Encoder::key_byte(const std::byte* record, std::uint64_t skip) const noexcept {
  for (const Field& field : fields_) {
    if (skip < field.key_bytes) return record + field.key.offset + (is_text(field.key) ? skip : 0);
    skip -= field.key_bytes;
  }
  if (fields_.empty()) return record;
  return record + fields_.back().key.offset + fields_.back().key.length - 1;
}

std::uint64_t Encoder::common_key_bytes(const std::byte* a, const std::byte* b, std::uint64_t skip) const noexcept {
  std::uint64_t common = 0;
  for (const Field& field : fields_) {
    std::uint64_t same = std::min<std::uint64_t>(skip, field.key_bytes);
    skip -= same;
    if (field.key.type == RecordKeyType::bytes) {
      const std::uint64_t start = field.key.offset + same;
      same += mismatch_at(a + start, b + start, field.key_bytes - same);
    } else {
      const FieldReader reader_a(field, record_size_, a), reader_b(field, record_size_, b);
      for (; same < field.key_bytes; same += word_bytes) {
        const std::uint64_t difference = reader_a.word(same) ^ reader_b.word(same);
        if (difference == 0) continue;
        same += static_cast<unsigned>(std::countl_zero(difference)) / 8;
        break;
      }
      same = std::min(same, field.key_bytes);
    }
    common += same;
    if (same < field.key_bytes) break;
  }
  return common;
}

void extract(const Encoder& encoder, const std::byte* records, std::size_t count, std::uint32_t first_index,
             sorting::Entry* out) noexcept {
  const std::size_t stride = encoder.record_size();
  encoder.with_reader([&]<class Reader>() {
    if constexpr (std::is_same_v<Reader, Encoder::AnyReader>) {
      extract_with(AnyKey{encoder}, records, stride, count, first_index, out);
    } else {
      const Reader prefix(encoder, 0), extension(encoder, Encoder::word_bytes);
      if constexpr (std::is_same_v<Reader, Encoder::BigEndianReader>) {
        const KeyWord& word = prefix.word;
        if (word.shift == 0 && word.flip == 0 && ~word.mask == 0 && word.at + Encoder::window_bytes <= stride) {
          const auto extension_mask = static_cast<std::uint32_t>(extension.word.mask >> 32U);
          return extract_with(PlainKey{word.at, extension_mask}, records, stride, count, first_index, out);
        }
      }
      if (encoder.prefix_decides()) return extract_with(ShortKey<Reader>{prefix}, records, stride, count, first_index, out);
      extract_with(WordKey<Reader>{prefix, extension}, records, stride, count, first_index, out);
    }
  });
}

}  // namespace ecosort::records
