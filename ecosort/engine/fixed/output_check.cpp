#include "engine/fixed/output_check.h"

#include <algorithm>
#include <cstring>

namespace ecosort::engine {

namespace {

constexpr std::uint64_t check_bytes = std::uint64_t{16} * 1024;

// Of records whose first eight key bytes are equal; the next eight settle most of it.
template <class Reader>
class RestOfKey {
 public:
  explicit RestOfKey(const records::Encoder& encoder)
      : encoder_(encoder),
        read_(encoder, records::Encoder::word_bytes),
        decides_(encoder.prefix_decides()),
        read_decides_(encoder.key_length() <= std::uint64_t{2} * records::Encoder::word_bytes) {}

  [[nodiscard]] bool in_order(const std::byte* a, const std::byte* b) const {
    if (decides_) return true;
    if (const std::uint64_t x = read_(a), y = read_(b); x != y) return x < y;
    return read_decides_ || encoder_.compare(a, b) <= 0;
  }

 private:
  const records::Encoder& encoder_;
  Reader read_;
  bool decides_, read_decides_;
};

bool all_in_order(const std::byte* records, std::uint64_t count, const records::Encoder& encoder) {
  const std::uint32_t size = encoder.record_size();
  const std::uint64_t last_read = encoder.prefix_decides() ? 0 : records::Encoder::word_bytes;
  bool in_order = true;
  encoder.with_reader(
      [&]<class Reader>() {
        const Reader read(encoder, 0);
        const RestOfKey<Reader> rest(encoder);
        std::uint64_t before = read(records);
        for (std::uint64_t i = 1; i < count; ++i) {
          const std::byte* record = records + i * size;
          const std::uint64_t prefix = read(record);
          in_order &= before < prefix || (before == prefix && rest.in_order(record - size, record));
          before = prefix;
        }
      },
      last_read);
  return in_order;
}

}  // namespace

std::uint64_t records_per_check(const records::Encoder& encoder) noexcept {
  return std::max<std::uint64_t>(check_bytes / encoder.record_size(), 1);
}

bool pair_in_order(const std::byte* a, const std::byte* b, const records::Encoder& encoder) noexcept {
  const std::uint64_t x = encoder.prefix(a), y = encoder.prefix(b);
  if (x != y) [[likely]]
    return x < y;
  return encoder.prefix_decides() || encoder.compare(a, b) <= 0;
}

void OutputCheck::add(const std::byte* records, std::uint64_t count) {
  if (count == 0) return;
  const std::uint32_t size = encoder_.record_size();
  result_.tally.hash.add_records(records, count, size);
  result_.in_order &= (last_ == nullptr || pair_in_order(last_, records, encoder_)) && all_in_order(records, count, encoder_);
  last_ = records + (count - 1) * size;
}

Checked check_records(const std::byte* records, std::uint64_t count, const records::Encoder& encoder) {
  OutputCheck check(encoder);
  check.add(records, count);
  return check.result();
}

std::uint64_t keep_first_of_equals(std::byte* records, std::uint64_t count, const std::byte* last_kept,
                                   const records::Encoder& encoder, Tally& dropped) {
  const std::uint32_t size = encoder.record_size();
  std::byte* out = records;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::byte* record = records + i * size;
    if (last_kept != nullptr && encoder.prefix(record) == encoder.prefix(last_kept) && encoder.compare(record, last_kept) == 0) {
      dropped.hash.add_records(record, 1, size);
      continue;
    }
    // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): with a record to look at, `records` is not null
    if (out != record) std::memcpy(out, record, size);
    last_kept = out;
    out += size;
  }
  return static_cast<std::uint64_t>(out - records) / size;
}

}  // namespace ecosort::engine
