#include "pipeline/landmarks.h"

#include <algorithm>

namespace ecosort::pipeline {

std::uint64_t Landmarks::most(std::uint32_t record_size) noexcept {
  constexpr std::uint64_t most_bytes = std::uint64_t{256} << 10U, most_records = 1024;
  return std::min(most_records, most_bytes / record_size);
}

void Landmarks::choose(const records::Encoder& encoder, std::span<const std::byte* const> sorted) {
  for (const std::byte* record : sorted) records_.insert(records_.end(), record, record + encoder.record_size());
}

std::uint32_t Landmarks::place_of(const records::Encoder& encoder, const std::byte* record) const noexcept {
  const std::size_t size = encoder.record_size();
  std::size_t begin = 0, end = records_.size() / size;
  while (begin < end) {
    const std::size_t middle = begin + (end - begin) / 2;
    if (encoder.compare(records_.data() + middle * size, record) <= 0)
      begin = middle + 1;
    else
      end = middle;
  }
  return static_cast<std::uint32_t>(begin);
}

}  // namespace ecosort::pipeline
