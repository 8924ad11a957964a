#include "scale/numbered_records.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

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

GensortRecords records_from(std::uint64_t number, Keys keys) noexcept {
  return {{.ascii = true, .skewed = keys == Keys::skewed}, number, GensortRandom::in_state(state_of(number))};
}

constexpr std::size_t number_at = 12, number_digits = 32;

// The key of a record below 2^44 is followed by two spaces, and zeros in front of eleven digits.
constexpr char mark[] = "  000000000000000000000";
constexpr std::size_t mark_at = 10, mark_bytes = sizeof mark - 1;

}  // namespace

void make_record(std::uint64_t number, std::byte* out, Keys keys) noexcept { records_from(number, keys).generate(out, 1); }

std::optional<std::uint64_t> number_of(const std::byte* record, Keys keys) noexcept {
  if (std::memcmp(record + mark_at, mark, mark_bytes) != 0) return std::nullopt;
  std::uint64_t number = 0;
  for (std::size_t at = mark_at + mark_bytes; at < number_at + number_digits; ++at) {
    const auto digit = static_cast<unsigned char>(record[at]);
    const unsigned value = digit <= '9' ? digit - '0' : digit - 'A' + 10U;
    if (value > 15) return std::nullopt;
    number = number << 4U | value;
  }
  std::byte made[record_bytes];
  if (number >= most_records) return std::nullopt;
  make_record(number, made, keys);
  if (std::memcmp(made, record, record_bytes) != 0) return std::nullopt;
  return number;
}

void make_bytes(std::uint64_t offset, std::size_t size, std::byte* out, Keys keys) noexcept {
  GensortRecords records = records_from(offset / record_bytes, keys);
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
