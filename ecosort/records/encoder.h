// From records to the engine's key contract: a 12-byte prefix as two integers, and a total comparison for the rest.
//
// The key of a record is its key fields one after the other, the bytes of descending fields complemented, so that keys compare
// as unsigned bytes. `prefix` is key bytes 0..7 and `extension` key bytes 8..11, both big-endian and zero-padded at the end:
//
//   key(a) < key(b)  implies  (prefix, extension)(a) <= (prefix, extension)(b)
//
// Key lengths are fixed by the format, so that padding never makes different keys equal: where the key has at most 12 bytes
// (`decides()`), equal (prefix, extension) means equal keys.
//
// Every function reads inside the given record only, whatever its size. An Encoder is immutable; all functions are thread-safe.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "records/entry.h"
#include "records/key_spec.h"

namespace ecosort::records {

static_assert(std::endian::native == std::endian::little);

// Twelve key bytes: `prefix` the first eight, `extension` the next four.
struct KeyWindow {
  std::uint64_t prefix;
  std::uint32_t extension;
};

inline std::uint64_t load_big_endian_64(const std::byte* bytes) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return __builtin_bswap64(word);
}

class Encoder {
 public:
  static constexpr std::uint32_t word_bytes = 8;
  static constexpr std::uint32_t window_bytes = 12;

  // Throws UsageError for a format that check_record_format refuses.
  explicit Encoder(const RecordFormat& format);

  [[nodiscard]] std::uint32_t record_size() const noexcept { return record_size_; }
  [[nodiscard]] std::uint64_t key_length() const noexcept { return key_length_; }  // bytes, all fields together

  // Equal (prefix, extension) means equal keys; equal prefix alone means equal keys.
  [[nodiscard]] bool decides() const noexcept { return key_length_ <= window_bytes; }
  [[nodiscard]] bool prefix_decides() const noexcept { return key_length_ <= 8; }

  [[nodiscard]] std::uint64_t prefix(const std::byte* record) const noexcept {
    if (is_word_key_) [[likely]]
      return prefix_word_.load(record);
    return joined(prefix_pieces_, record, 0);
  }
  [[nodiscard]] std::uint32_t extension(const std::byte* record) const noexcept {
    if (is_word_key_) [[likely]]
      return static_cast<std::uint32_t>(extension_word_.load(record) >> 32U);
    return static_cast<std::uint32_t>(joined(extension_pieces_, record, word_bytes) >> 32U);
  }

  // Key bytes skip ... skip+11, zero-padded beyond the key.
  [[nodiscard]] KeyWindow window(const std::byte* record, std::uint64_t skip) const noexcept;

  // Three-way comparison of the whole keys: negative, 0 or positive. Records with equal keys give 0 whatever else they hold.
  [[nodiscard]] int compare(const std::byte* a, const std::byte* b) const noexcept;

  // Where key byte `skip` lies in the record (the last key byte for a larger skip); for prefetching.
  [[nodiscard]] const std::byte* key_byte(const std::byte* record, std::uint64_t skip) const noexcept;

  // Number of leading key bytes in which a and b agree, counted from 0; `skip` of them are known to agree and are not read.
  [[nodiscard]] std::uint64_t common_key_bytes(const std::byte* a, const std::byte* b, std::uint64_t skip) const noexcept;

  // Up to eight bytes of one field at the top of a word, without leaving the record (of at least eight bytes). Where fewer than
  // eight bytes follow in the record, the load starts earlier and the shift drops what lies before.
  struct Word {
    std::uint32_t at = 0;     // byte of the record
    std::uint32_t shift = 0;  // bits
    std::uint64_t flip = 0;   // all ones for a descending field
    std::uint64_t mask = 0;   // the bytes of the field

    [[nodiscard]] std::uint64_t load(const std::byte* record) const noexcept {
      return ((load_big_endian_64(record + at) << shift) ^ flip) & mask;
    }
  };
  // Set where the key is one field (after joining adjacent ones) and the record has at least eight bytes.
  [[nodiscard]] bool is_word_key() const noexcept { return is_word_key_; }
  // The reader of key bytes skip ... skip+7; only where is_word_key().
  [[nodiscard]] Word word_at(std::uint64_t skip) const noexcept;

 private:
  // A word of a key of several fields: one piece per field, moved to its place.
  struct Piece {
    Word word;
    std::uint32_t drop = 0;  // bits
  };
  // Key bytes skip ... of a key that is_word_key() does not cover; `pieces` are those of this place.
  [[nodiscard]] std::uint64_t joined(const std::vector<Piece>& pieces, const std::byte* record,
                                     std::uint64_t skip) const noexcept;
  [[nodiscard]] Word field_word(const KeyField& field, std::uint64_t skip, std::uint64_t bytes) const noexcept;
  [[nodiscard]] std::vector<Piece> make_pieces(std::uint64_t skip, std::uint64_t bytes) const;

  std::uint32_t record_size_;
  std::uint64_t key_length_ = 0;
  bool is_word_key_ = false;
  Word prefix_word_;
  Word extension_word_;
  std::vector<Piece> prefix_pieces_;
  std::vector<Piece> extension_pieces_;
  std::vector<KeyField> fields_;
};

// out[i] = the entry of records[i], with index first_index + i. `records` holds count * record_size bytes; `out` count entries.
void extract(const Encoder& encoder, const std::byte* records, std::size_t count, std::uint32_t first_index, Entry* out) noexcept;

}  // namespace ecosort::records
