// Records of the first run, evenly spaced: where twelve key bytes tie, the place among them still tells what comes first.
//
// URLs of a few shops agree in twelve bytes wherever one looks, and a whole sixth of every run would begin alike. Places order
// keys as the keys themselves do: where place(a) < place(b) some landmark lies between the two, so that a < b. Once chosen, the
// landmarks stay, as the places of records seen before are not known anew. Coordinator only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "records/encoder.h"

namespace ecosort::pipeline {

class Landmarks {
 public:
  // How many make sense for records of this size: at most 1024, and 256 KiB of them.
  [[nodiscard]] static std::uint64_t most(std::uint32_t record_size) noexcept;

  [[nodiscard]] bool empty() const noexcept { return records_.empty(); }

  // Copies records that are in the order of their keys; at most `most`.
  void choose(const records::Encoder& encoder, std::span<const std::byte* const> sorted);

  // How many of the landmarks do not come after the record; 0 without landmarks.
  [[nodiscard]] std::uint32_t place_of(const records::Encoder& encoder, const std::byte* record) const noexcept;

 private:
  std::vector<std::byte> records_;
};

}  // namespace ecosort::pipeline
