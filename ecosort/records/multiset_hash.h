// What a collection of records holds, whatever their order: a count and a 128-bit sum of record hashes.
//
// Two collections with equal MultisetHash hold the same records with overwhelming probability; the sum of parts is the hash of
// the whole, so that buffers and threads are hashed apart and added. The value is the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace ecosort::records {

struct MultisetHash {
  std::uint64_t low = 0;  // two independent sums, each modulo 2^64
  std::uint64_t high = 0;
  std::uint64_t count = 0;  // records

  // Adds `count` contiguous records of record_size bytes (1 ... any).
  void add_records(const std::byte* records, std::size_t count, std::uint32_t record_size);

  MultisetHash& operator+=(const MultisetHash& other) noexcept {
    low += other.low;
    high += other.high;
    count += other.count;
    return *this;
  }
  friend MultisetHash operator+(MultisetHash a, const MultisetHash& b) noexcept { return a += b; }
  friend bool operator==(const MultisetHash&, const MultisetHash&) = default;

  // The 128 bits as 32 hexadecimal digits, high half first; without the count.
  [[nodiscard]] std::string to_hex() const;
};

}  // namespace ecosort::records
