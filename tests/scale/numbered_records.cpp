#include "scale/numbered_records.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>

namespace ecosort::scale {

namespace {

using sortbenchmark::GensortRandom;
using sortbenchmark::GensortRecords;

// The generator steps x -> a x + c; so do many steps at a time. A count of steps is cut into digits of 11 bits, and there is a
// table of what each digit does at its place: four multiplications instead of a hundred.
struct Steps {
  uint128 factor = 1, summand = 0;
  [[nodiscard]] uint128 from(uint128 state) const noexcept { return factor * state + summand; }
  [[nodiscard]] Steps then(const Steps& next) const noexcept { return {next.factor * factor, next.from(summand)}; }
};

constexpr unsigned digit_bits = 11, digits = 4;
constexpr std::size_t digit_values = std::size_t{1} << digit_bits;
using Tables = std::array<std::array<Steps, digit_values>, digits>;

std::unique_ptr<const Tables> make_tables() {
  auto tables = std::make_unique<Tables>();
  Steps unit{GensortRandom::multiplier, GensortRandom::increment};
  for (auto& table : *tables) {
    Steps sum;
    for (Steps& steps : table) {
      steps = sum;
      sum = sum.then(unit);
    }
    unit = sum;
  }
  return tables;
}

uint128 state_of(std::uint64_t number) noexcept {
  static const std::unique_ptr<const Tables> tables = make_tables();
  uint128 state = 0;
  std::uint64_t steps = number + 1;
  for (const auto& table : *tables) {
    state = table[steps % digit_values].from(state);
    steps >>= digit_bits;
  }
  return state;
}

GensortRecords records_in(uint128 state, std::uint64_t number, Keys keys) noexcept {
  return {{.ascii = true, .skewed = keys == Keys::skewed}, number, GensortRandom::in_state(state)};
}

constexpr std::size_t batch = 64;

// The key of a record is followed by two spaces and the 32 hexadecimal digits of its number. Whether all of it is right shows
// when it is compared with what the generator makes.
constexpr std::size_t mark_at = 10, number_at = 28;  // of the lower 64 bits
constexpr std::uint64_t mark = 0x3030'3030'3030'2020;

std::uint64_t word_at(const std::byte* bytes) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

std::uint64_t value_of_eight_digits(const std::byte* hex) noexcept {
  const std::uint64_t text = __builtin_bswap64(word_at(hex));
  std::uint64_t value = (text & 0x0f0f0f0f0f0f0f0f) + (text >> 6 & 0x0101010101010101) * 9;
  value = (value | value >> 4) & 0x00ff00ff00ff00ff;
  value = (value | value >> 8) & 0x0000ffff0000ffff;
  return (value | value >> 16) & 0xffffffff;
}

std::optional<std::uint64_t> claimed_number(const std::byte* record) noexcept {
  if (word_at(record + mark_at) != mark) return std::nullopt;
  const std::uint64_t number = value_of_eight_digits(record + number_at) << 32 | value_of_eight_digits(record + number_at + 8);
  return number < most_records ? std::optional(number) : std::nullopt;
}

}  // namespace

// All states of a batch come first: none waits for another one.
void make_records(std::span<const std::uint64_t> numbers, std::byte* out, Keys keys) noexcept {
  std::array<uint128, batch> states;
  for (; !numbers.empty(); numbers = numbers.subspan(std::min(batch, numbers.size()))) {
    const std::span<const std::uint64_t> now = numbers.first(std::min(batch, numbers.size()));
    std::ranges::transform(now, states.begin(), state_of);
    for (std::size_t i = 0; i < now.size(); ++i, out += record_bytes) records_in(states[i], now[i], keys).generate(out, 1);
  }
}

std::size_t numbers_of(std::span<const std::byte> bytes, std::span<std::uint64_t> numbers, Keys keys) noexcept {
  std::array<std::byte, batch * record_bytes> made;
  std::size_t found = 0;
  while (found < numbers.size()) {
    const std::size_t begin = found;
    const std::size_t end = std::min({numbers.size(), begin + batch, bytes.size() / record_bytes});
    for (; found < end; ++found) {
      const auto number = claimed_number(bytes.data() + found * record_bytes);
      if (!number) break;
      numbers[found] = *number;
    }
    make_records(numbers.subspan(begin, found - begin), made.data(), keys);
    for (std::size_t i = begin; i < found; ++i)
      if (std::memcmp(made.data() + (i - begin) * record_bytes, bytes.data() + i * record_bytes, record_bytes) != 0) return i;
    if (found < begin + batch) break;
  }
  return found;
}

void make_bytes(std::uint64_t offset, std::size_t size, std::byte* out, Keys keys) noexcept {
  const std::uint64_t first = offset / record_bytes;
  GensortRecords records = records_in(state_of(first), first, keys);
  std::byte edge[record_bytes];
  for (std::size_t skip = offset % record_bytes; size > 0; skip = 0) {
    if (skip == 0 && size >= record_bytes) {
      const std::size_t whole = size / record_bytes;
      records.generate(out, whole);
      out += whole * record_bytes;
      size -= whole * record_bytes;
      continue;
    }
    records.generate(edge, 1);
    const std::size_t part = std::min(record_bytes - skip, size);
    std::memcpy(out, edge + skip, part);
    out += part;
    size -= part;
  }
}

}  // namespace ecosort::scale
