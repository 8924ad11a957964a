// Records of the first run, evenly spaced: where twelve key bytes tie, the place among them still shows what comes first.
//
// URLs of a few shops agree in twelve bytes wherever one looks, and a whole sixth of every run would begin alike. Places order
// keys as the keys themselves do: where place(a) < place(b) there is a sample key with a < sample key <= b. Once chosen, the
// key sample stay, as the places of records seen before are not known anew; so they tell nothing apart of what lies beyond the
// first run.
//
// Chosen by the coordinator while runs are formed; read by any thread once they are.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/records/encoder.h"

namespace ecosort::run {

class KeySample {
 public:
  // Returns how many make sense for records of this size: at most 1024, and 256 KiB of them.
  [[nodiscard]] static std::uint64_t most(std::uint32_t record_size) noexcept;

  // Copies records that are in the order of their keys, unless they are more than `most`.
  void choose(const records::Encoder& encoder, std::span<const std::byte* const> sorted);

  // Returns how many of the key sample do not come after the record; 0 without key sample.
  [[nodiscard]] std::uint32_t place_of(const records::Encoder& encoder, const std::byte* record) const noexcept;

  // place_of(record) <=> place, by the two key sample that `place` lies between.
  [[nodiscard]] std::strong_ordering compare(const records::Encoder& encoder, const std::byte* record,
                                             std::uint32_t place) const noexcept;

 private:
  // Returns whether this sample key counts for the place of the record.
  [[nodiscard]] bool is_passed(const records::Encoder& encoder, const std::byte* record, std::size_t sample_key) const noexcept {
    return encoder.compare(records_.data() + sample_key * encoder.record_size(), record) <= 0;
  }

  std::vector<std::byte> records_;
};

}  // namespace ecosort::run
