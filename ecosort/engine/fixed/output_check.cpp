#include "engine/fixed/output_check.h"

#include <algorithm>
#include <cstring>

namespace ecosort::engine::fixed {

namespace {

constexpr std::uint64_t check_bytes = std::uint64_t{16} * 1024;

// Compares records whose first eight key bytes are equal; the next eight settle most of it.
template <class Reader>
class RestOfKey {
 public:
  explicit RestOfKey(const records::Encoder& encoder)
      : encoder_(encoder),
        read_(encoder, records::Encoder::word_bytes),
        decides_(encoder.prefix_decides()),
        read_decides_(encoder.key_length() <= std::uint64_t{2} * records::Encoder::word_bytes) {}

  [[nodiscard]] int compare(const std::byte* a, const std::byte* b) const {
    if (decides_) return 0;
    if (const std::uint64_t x = read_(a), y = read_(b); x != y) return x < y ? -1 : 1;
    return read_decides_ ? 0 : encoder_.compare(a, b);
  }

 private:
  const records::Encoder& encoder_;
  Reader read_;
  bool decides_, read_decides_;
};

void check_pairs(const std::byte* records, std::uint64_t count, const records::Encoder& encoder, Checked& checked) {
  const std::uint32_t size = encoder.record_size();
  const std::uint64_t last_read = encoder.prefix_decides() ? 0 : records::Encoder::word_bytes;
  encoder.with_reader(
      [&]<class Reader>() {
        const Reader read(encoder, 0);
        const RestOfKey<Reader> rest(encoder);
        std::uint64_t before = read(records);
        for (std::uint64_t i = 1; i < count; ++i) {
          const std::byte* record = records + i * size;
          const std::uint64_t prefix = read(record);
          if (before >= prefix) checked.add_pair(before > prefix ? 1 : rest.compare(record - size, record));
          before = prefix;
        }
      },
      last_read);
}

}  // namespace

std::uint64_t records_per_check(const records::Encoder& encoder) noexcept {
  return std::max<std::uint64_t>(check_bytes / encoder.record_size(), 1);
}

int compare_pair(const std::byte* a, const std::byte* b, const records::Encoder& encoder) noexcept {
  const std::uint64_t x = encoder.prefix(a), y = encoder.prefix(b);
  if (x != y) [[likely]]
    return x < y ? -1 : 1;
  return encoder.prefix_decides() ? 0 : encoder.compare(a, b);
}

bool pair_in_order(const std::byte* a, const std::byte* b, const records::Encoder& encoder) noexcept {
  return compare_pair(a, b, encoder) <= 0;
}

void OutputCheck::add(const std::byte* records, std::uint64_t count) {
  if (count == 0) return;
  const std::uint32_t size = encoder_.record_size();
  if (hashes_)
    result_.tally.hash.add_records(records, count, size);
  else
    result_.tally.hash.count += count;
  if (last_ != nullptr) result_.add_pair(compare_pair(last_, records, encoder_));
  check_pairs(records, count, encoder_, result_);
  last_ = records + (count - 1) * size;
}

Checked check_records(const std::byte* records, std::uint64_t count, const records::Encoder& encoder) {
  OutputCheck check(encoder);
  check.add(records, count);
  return check.result();
}

}  // namespace ecosort::engine::fixed
