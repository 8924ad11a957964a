#include "sortbenchmark/validate.h"

#include <algorithm>
#include <cstring>

namespace ecosort::sortbenchmark {
namespace {

// A-Z becomes a-z in all eight bytes: bit 7 of `at_least_a` and `beyond_z` says where a byte (without its own bit 7) is in range.
std::uint64_t lower_case(std::uint64_t bytes) noexcept {
  constexpr std::uint64_t ones = 0x0101010101010101;
  const std::uint64_t low7 = bytes & 0x7f * ones;
  const std::uint64_t at_least_a = low7 + (0x80 - 'A') * ones, beyond_z = low7 + (0x80 - 'Z' - 1) * ones;
  const std::uint64_t is_upper = at_least_a & ~beyond_z & ~bytes & 0x80 * ones;
  return bytes | is_upper >> 2;  // bit 7 becomes bit 5, the difference of 'A' and 'a'
}

// The key as a number that compares like its bytes.
template <KeyCase key_case>
uint128 key_of(const std::byte* record) noexcept {
  std::uint64_t head;
  std::uint16_t tail;
  std::memcpy(&head, record, sizeof head);
  std::memcpy(&tail, record + sizeof head, sizeof tail);
  if constexpr (key_case == KeyCase::ignored) {
    head = lower_case(head);
    tail = static_cast<std::uint16_t>(lower_case(tail));
  }
  return uint128{__builtin_bswap64(head)} << 16 | __builtin_bswap16(tail);
}

struct OrderCounts {
  std::uint64_t unordered = 0, duplicates = 0;
};

// Counts neighbours within records[0, count).
template <KeyCase key_case>
OrderCounts count_neighbours(const std::byte* records, std::size_t count) noexcept {
  OrderCounts counts;
  uint128 previous = key_of<key_case>(records);
  for (std::size_t i = 1; i < count; ++i) {
    const uint128 next = key_of<key_case>(records + i * gensort_record_bytes);
    counts.unordered += previous > next;
    counts.duplicates += previous == next;
    previous = next;
  }
  return counts;
}

template <KeyCase key_case>
std::size_t find_unordered(const std::byte* records) noexcept {
  std::size_t i = 1;
  while (key_of<key_case>(records + (i - 1) * gensort_record_bytes) <= key_of<key_case>(records + i * gensort_record_bytes)) ++i;
  return i;
}

template <KeyCase key_case>
PartitionSummary summarize_as(const std::byte* records, std::size_t count) {
  constexpr std::size_t batch = 256;  // stays in the L1 cache between the order scan and the checksum
  PartitionSummary summary;
  summary.records = count;
  for (std::size_t begin = 0; begin < count; begin += batch) {
    const std::size_t size = std::min(batch, count - begin);
    const std::size_t overlap = begin == 0 ? 0 : 1;  // the pair across the batches
    const std::byte* data = records + begin * gensort_record_bytes;
    const std::byte* scanned = data - overlap * gensort_record_bytes;
    const OrderCounts counts = count_neighbours<key_case>(scanned, size + overlap);
    if (counts.unordered != 0 && summary.unordered == 0)
      summary.first_unordered = begin - overlap + find_unordered<key_case>(scanned);
    summary.unordered += counts.unordered;
    summary.duplicates += counts.duplicates;
    summary.checksum += crc_sum(data, size);
  }
  if (count == 0) return summary;
  std::memcpy(summary.first_record.data(), records, gensort_record_bytes);
  std::memcpy(summary.last_record.data(), records + (count - 1) * gensort_record_bytes, gensort_record_bytes);
  return summary;
}

}  // namespace

PartitionSummary summarize(const std::byte* records, std::size_t count, KeyCase key_case) {
  return key_case == KeyCase::exact ? summarize_as<KeyCase::exact>(records, count)
                                    : summarize_as<KeyCase::ignored>(records, count);
}

void PartitionSummary::append(const PartitionSummary& next, KeyCase key_case) {
  if (next.records == 0) return;
  if (records == 0) {
    *this = next;
    return;
  }
  const auto key = key_case == KeyCase::exact ? key_of<KeyCase::exact> : key_of<KeyCase::ignored>;
  const uint128 last_key = key(last_record.data()), first_key = key(next.first_record.data());
  if (last_key == first_key) ++duplicates;
  if (last_key > first_key) {
    ++unordered;
    if (first_unordered == 0) first_unordered = records;
  }
  if (first_unordered == 0 && next.first_unordered != 0) first_unordered = records + next.first_unordered;
  unordered += next.unordered;
  duplicates += next.duplicates;
  checksum += next.checksum;
  records += next.records;
  last_record = next.last_record;
}

std::array<std::byte, summary_bytes> PartitionSummary::to_bytes() const {
  std::array<std::byte, summary_bytes> bytes{};
  std::byte* out = bytes.data();
  for (const uint128 number : {first_unordered, unordered, records, duplicates, checksum.sum}) {
    const std::array<std::uint64_t, 2> words{high_half(number), low_half(number)};
    std::memcpy(out, words.data(), sizeof words);
    out += sizeof words;
  }
  out = std::copy(first_record.begin(), first_record.end(), out);
  std::copy(last_record.begin(), last_record.end(), out);
  return bytes;
}

PartitionSummary PartitionSummary::from_bytes(std::span<const std::byte, summary_bytes> bytes) {
  PartitionSummary summary;
  const std::byte* in = bytes.data();
  for (uint128* number :
       {&summary.first_unordered, &summary.unordered, &summary.records, &summary.duplicates, &summary.checksum.sum}) {
    std::array<std::uint64_t, 2> words;
    std::memcpy(words.data(), in, sizeof words);
    *number = make_uint128(words[0], words[1]);
    in += sizeof words;
  }
  std::copy_n(in, gensort_record_bytes, summary.first_record.begin());
  std::copy_n(in + gensort_record_bytes, gensort_record_bytes, summary.last_record.begin());
  return summary;
}

}  // namespace ecosort::sortbenchmark
