#include "run/key_sample.h"

#include <algorithm>

namespace ecosort::run {

std::uint64_t KeySample::most(std::uint32_t record_size) noexcept {
  constexpr std::uint64_t most_bytes = std::uint64_t{256} << 10U, most_records = 1024;
  return std::min(most_records, most_bytes / record_size);
}

void KeySample::choose(const records::Encoder& encoder, std::span<const std::byte* const> sorted) {
  if (sorted.size() > most(encoder.record_size())) return;
  records_.reserve(sorted.size() * encoder.record_size());
  for (const std::byte* record : sorted) records_.insert(records_.end(), record, record + encoder.record_size());
}

std::uint32_t KeySample::place_of(const records::Encoder& encoder, const std::byte* record) const noexcept {
  std::size_t begin = 0, end = records_.size() / encoder.record_size();
  while (begin < end) {
    const std::size_t middle = begin + (end - begin) / 2;
    if (is_passed(encoder, record, middle))
      begin = middle + 1;
    else
      end = middle;
  }
  return static_cast<std::uint32_t>(begin);
}

std::strong_ordering KeySample::compare(const records::Encoder& encoder, const std::byte* record,
                                        std::uint32_t place) const noexcept {
  if (place > 0 && !is_passed(encoder, record, place - 1)) return std::strong_ordering::less;
  const std::size_t count = records_.size() / encoder.record_size();
  return place < count && is_passed(encoder, record, place) ? std::strong_ordering::greater : std::strong_ordering::equal;
}

}  // namespace ecosort::run
