// From records to the engine's key contract: a 12-byte prefix as two integers, and a total comparison for the rest.
//
// The key of a record is its key fields one after the other, each turned into a fixed number of bytes that compare like its
// values (key_word.h, decimal_key.h, cobol_number.h, code_page.h), those of descending fields complemented, so that keys compare
// as unsigned bytes. `prefix` is key bytes 0..7 and `extension` key bytes 8..11, both big-endian and zero-padded at the end:
//
//   key(a) < key(b)  implies  (prefix, extension)(a) <= (prefix, extension)(b)
//
// Key lengths are fixed by the format, so that padding never makes different keys equal: where the key has at most 12 bytes
// (`decides()`), equal (prefix, extension) means equal keys. Values that a type takes for equal have the same bytes.
//
// Every function reads inside the given record only, whatever its size. An Encoder is immutable; all functions are thread-safe.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/records/key_spec.h"
#include "formats/records/key_word.h"
#include "sorting/entry.h"

namespace ecosort::records {

// Twelve key bytes: `prefix` the first eight, `extension` the next four.
struct KeyWindow {
  std::uint64_t prefix;
  std::uint32_t extension;

  friend constexpr auto operator<=>(const KeyWindow&, const KeyWindow&) noexcept = default;
};

class Encoder {
 public:
  static constexpr std::uint32_t word_bytes = 8;
  static constexpr std::uint32_t window_bytes = 12;

  // Throws UsageError for a format that check_record_format refuses.
  explicit Encoder(const RecordFormat& format);
  // Makes one for records without a key, all of which are alike: they stay in the order in which they are.
  [[nodiscard]] static Encoder without_key(std::uint32_t record_size) { return Encoder(record_size); }

  [[nodiscard]] std::uint32_t record_size() const noexcept { return record_size_; }
  [[nodiscard]] std::uint64_t key_length() const noexcept { return key_length_; }  // bytes, all fields together

  // Equal (prefix, extension) means equal keys; equal prefix alone means equal keys.
  [[nodiscard]] bool decides() const noexcept { return key_length_ <= window_bytes; }
  [[nodiscard]] bool prefix_decides() const noexcept { return key_length_ <= word_bytes; }

  [[nodiscard]] std::uint64_t prefix(const std::byte* record) const noexcept {
    if (shape_ == Shape::big_endian) [[likely]]
      return prefix_word_.load_big_endian(record);
    return any_prefix(record);
  }
  [[nodiscard]] std::uint32_t extension(const std::byte* record) const noexcept {
    if (shape_ == Shape::big_endian) [[likely]]
      return static_cast<std::uint32_t>(extension_word_.load_big_endian(record) >> 32U);
    return first_window(record).extension;
  }

  // Both at once: cheaper than one after the other where a field has to be parsed.
  [[nodiscard]] KeyWindow first_window(const std::byte* record) const noexcept;

  // Key bytes skip ... skip+11, zero-padded beyond the key.
  [[nodiscard]] KeyWindow window(const std::byte* record, std::uint64_t skip) const noexcept;

  // Three-way comparison of the whole keys: negative, 0 or positive. Records with equal keys give 0 whatever else they hold.
  [[nodiscard]] int compare(const std::byte* a, const std::byte* b) const noexcept;

  // Returns where the field of key byte `skip` lies in the record, or near it (the last key byte for a larger skip); for
  // prefetching.
  [[nodiscard]] const std::byte* key_byte(const std::byte* record, std::uint64_t skip) const noexcept;

  // Number of leading key bytes in which a and b agree, counted from 0; `skip` of them are known to agree and are not read.
  [[nodiscard]] std::uint64_t common_key_bytes(const std::byte* a, const std::byte* b, std::uint64_t skip) const noexcept;

  // Returns which of the records is the first one that cannot be sorted, because its key holds no value of its type; `count`:
  // none. Keys of records that are refused have no order that means anything.
  [[nodiscard]] std::size_t first_refused(const std::byte* records, std::size_t count) const noexcept;
  [[nodiscard]] bool may_refuse() const noexcept { return may_refuse_; }
  // Says why a record that first_refused() returned cannot be sorted.
  [[nodiscard]] std::string why_refused(const std::byte* record) const;

  // Calls `use` with the reader of key bytes skip ... skip+7 for loops over many records: the cheapest of the readers below.
  //
  //   encoder.with_reader([&]<class Reader>() { const Reader read(encoder, skip); ... read(record) ... }, skip)
  //
  // The type depends on the format, and on whether skip is 0.
  template <class Use>
  decltype(auto) with_reader(Use&& use, std::uint64_t skip = 0) const;

  struct BigEndianReader {
    BigEndianReader(const Encoder& encoder, std::uint64_t skip) noexcept : word(encoder.word_at(skip)) {}
    std::uint64_t operator()(const std::byte* record) const noexcept { return word.load_big_endian(record); }
    KeyWord word;
  };
  struct LittleEndianReader {
    LittleEndianReader(const Encoder& encoder, std::uint64_t skip) noexcept : word(encoder.word_at(skip)) {}
    std::uint64_t operator()(const std::byte* record) const noexcept { return word.load_little_endian(record); }
    KeyWord word;
  };
  struct WordReader {
    WordReader(const Encoder& encoder, std::uint64_t skip) noexcept : word(encoder.word_at(skip)) {}
    std::uint64_t operator()(const std::byte* record) const noexcept { return word.load(record); }
    KeyWord word;
  };
  struct AnyReader {
    AnyReader(const Encoder& of, std::uint64_t bytes) noexcept : encoder(&of), skip(bytes) {}
    std::uint64_t operator()(const std::byte* record) const noexcept {
      return skip == 0 ? encoder->any_prefix(record) : encoder->window(record, skip).prefix;
    }
    const Encoder* encoder;
    std::uint64_t skip;
  };

 private:
  explicit Encoder(std::uint32_t record_size) noexcept : record_size_(record_size) {}

  // Says what a key is read with: one plain word in either byte order, one word of any kind, or several fields or one that
  // is parsed.
  enum class Shape : std::uint8_t { big_endian, little_endian, word, fields };

  // A field that has been brought into the fewest kinds: big-endian unsigned integers are bytes.
  struct Field {
    RecordKey key;
    std::uint64_t key_bytes;
  };
  // A word of a key of several fields: one piece per field, moved to its place.
  struct Piece {
    KeyWord word;
    std::uint32_t drop = 0;  // bits
  };
  class FieldReader;

  [[nodiscard]] const Field* refused_field(const std::byte* record) const noexcept;
  [[nodiscard]] KeyWord word_at(std::uint64_t skip) const noexcept;  // of a key of one field
  [[nodiscard]] std::uint64_t any_prefix(const std::byte* record) const noexcept;
  [[nodiscard]] std::vector<Piece> make_pieces(std::uint64_t skip, std::uint64_t bytes) const;

  std::uint32_t record_size_;
  std::uint64_t key_length_ = 0;
  Shape shape_ = Shape::fields;
  KeyWord prefix_word_;
  KeyWord extension_word_;
  bool may_refuse_ = false;
  std::vector<Piece> prefix_pieces_;  // empty where a field is parsed
  std::vector<Piece> extension_pieces_;
  std::vector<Field> fields_;
};

template <class Use>
decltype(auto) Encoder::with_reader(Use&& use, std::uint64_t skip) const {
  if (shape_ == Shape::fields) return use.template operator()<AnyReader>();
  const bool plain = skip == 0 || prefix_word_.field_mask == 0;  // not from the middle of a number
  if (plain && shape_ == Shape::big_endian) return use.template operator()<BigEndianReader>();
  if (plain && shape_ == Shape::little_endian) return use.template operator()<LittleEndianReader>();
  return use.template operator()<WordReader>();
}

// out[i] = the entry of records[i], with index first_index + i. `records` holds count * record_size bytes; `out` count entries.
void extract(const Encoder& encoder, const std::byte* records, std::size_t count, std::uint32_t first_index,
             sorting::Entry* out) noexcept;

}  // namespace ecosort::records
