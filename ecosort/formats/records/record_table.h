// Knows where the records of an index are: up to eight arrays of records, one per run buffer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ecosort::records {

// An entry's index is the number of an array in its top bits and the position of the record in that array below. An index of a
// single array is the position alone. Immutable while compute threads use it.
class RecordTable {
 public:
  static constexpr unsigned position_bits = 29;
  static constexpr std::uint32_t most_records = std::uint32_t{1} << position_bits;  // of one array
  static constexpr std::uint32_t most_arrays = 8;

  explicit RecordTable(std::uint32_t record_size) : record_size_(record_size) {}
  RecordTable(const std::byte* records, std::uint32_t record_size) : record_size_(record_size) { arrays_[0] = records; }

  // The index of the first record of an array.
  [[nodiscard]] static constexpr std::uint32_t first_index(std::uint32_t array) noexcept { return array << position_bits; }

  // Adds the array whose first record has this index.
  void add(std::uint32_t first_index, const std::byte* records) noexcept { arrays_[first_index >> position_bits] = records; }

  [[nodiscard]] std::uint32_t record_size() const noexcept { return record_size_; }
  [[nodiscard]] const std::byte* at(std::uint32_t index) const noexcept { return at(index, std::size_t{record_size_}); }

  // Finds it with a record size that the compiler may know.
  template <class Size>
  [[nodiscard]] const std::byte* at(std::uint32_t index, Size size) const noexcept {
    return arrays_[index >> position_bits] + (index & (most_records - 1)) * std::size_t{size};
  }

 private:
  std::array<const std::byte*, most_arrays> arrays_{};
  std::uint32_t record_size_;
};

}  // namespace ecosort::records
