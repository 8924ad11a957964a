#include "scale/drive_unit.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace ecosort::scale {

namespace {

constexpr std::size_t head_bytes = 10, part_bytes = 3, most_parts = 60;
constexpr std::size_t few_zeros = 24;  // not worth a part

struct Part {
  enum class Kind : std::uint8_t { zeros, bytes, records };
  Kind kind = Kind::zeros;
  std::uint16_t count = 0;  // of bytes, or of records
};

template <class T>
void put(std::byte*& out, T value, std::size_t size = sizeof(T)) {
  std::memcpy(out, &value, size);
  out += size;
}
template <class T>
T get(const std::byte*& in, std::size_t size = sizeof(T)) {
  T value{};
  std::memcpy(&value, in, size);
  in += size;
  return value;
}

// Numbers of `width` bits, at most 56, one behind the other; up to 8 bytes behind the last one are written or read, too.
class PackedNumbers {
 public:
  explicit PackedNumbers(std::size_t width) noexcept : width_(width) {}

  void put_next(std::byte* bytes, std::uint64_t number) noexcept {
    const std::uint64_t word = word_at(bytes) & ((std::uint64_t{1} << (bit_ % 8)) - 1);
    const std::uint64_t now = word | number << (bit_ % 8);
    std::memcpy(bytes + bit_ / 8, &now, sizeof now);
    bit_ += width_;
  }
  [[nodiscard]] std::uint64_t get_next(const std::byte* bytes) noexcept {
    const std::uint64_t number = word_at(bytes) >> (bit_ % 8) & ((std::uint64_t{1} << width_) - 1);
    bit_ += width_;
    return number;
  }

 private:
  [[nodiscard]] std::uint64_t word_at(const std::byte* bytes) const noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + bit_ / 8, sizeof word);
    return word;
  }

  std::size_t width_, bit_ = 0;
};

using Numbers = std::array<std::uint64_t, unit_bytes / record_bytes>;  // of all records of a unit

std::size_t zeros_at(const std::byte* bytes, std::size_t from) {
  std::size_t end = from;
  std::uint64_t word = 0;
  for (; end + sizeof word <= unit_bytes; end += sizeof word) {
    std::memcpy(&word, bytes + end, sizeof word);
    if (word != 0) break;
  }
  while (end < unit_bytes && bytes[end] == std::byte{0}) ++end;
  return end - from;
}

// Returns how many records lie there, one behind the other, and sets their numbers.
std::size_t records_at(const std::byte* bytes, std::size_t at, std::span<std::uint64_t> numbers, Keys keys) {
  return numbers_of({bytes + at, unit_bytes - at}, numbers, keys);
}

std::optional<std::uint64_t> place_in_stream(const std::byte* bytes, Keys keys) {
  for (std::size_t first = 0; first < record_bytes; ++first) {
    std::array<std::uint64_t, 2> numbers{};
    const std::size_t found = records_at(bytes, first, numbers, keys);
    if (found == 0) continue;
    if (found == 1 || numbers[1] != numbers[0] + 1 || (numbers[0] == 0 && first > 0)) return std::nullopt;
    const std::uint64_t place = numbers[0] * record_bytes - first;
    std::vector<std::byte> made(unit_bytes);
    make_bytes(place, unit_bytes, made.data(), keys);
    if (std::memcmp(made.data(), bytes, unit_bytes) == 0) return place;
    return std::nullopt;
  }
  return std::nullopt;
}

// A unit consists of these.
struct Contents {
  std::vector<Part> parts;
  std::vector<std::byte> bytes;
  std::vector<std::uint64_t> numbers;

  void add(Part::Kind kind, std::size_t count) {
    if (parts.empty() || parts.back().kind != kind) parts.push_back({kind, 0});
    parts.back().count = static_cast<std::uint16_t>(parts.back().count + count);
  }
};

Contents take_apart(const std::byte* bytes, Keys keys, std::size_t most) {
  Contents contents;
  Numbers numbers;
  for (std::size_t at = 0; at < unit_bytes && contents.parts.size() <= most_parts && contents.bytes.size() <= most;) {
    if (const std::size_t records = records_at(bytes, at, numbers, keys); records > 0) {
      contents.numbers.insert(contents.numbers.end(), numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(records));
      contents.add(Part::Kind::records, records);
      at += records * record_bytes;
    } else if (const std::size_t zeros = zeros_at(bytes, at); zeros >= few_zeros) {
      contents.add(Part::Kind::zeros, zeros);
      at += zeros;
    } else {
      contents.bytes.push_back(bytes[at++]);
      contents.add(Part::Kind::bytes, 1);
    }
  }
  return contents;
}

// Returns nothing where the unit holds too much that is no record with such keys.
std::optional<Unit> try_pack(const std::byte* bytes, Slot& slot, std::size_t most, Keys keys) {
  if (const auto place = place_in_stream(bytes, keys)) return Unit{.place = *place, .kind = Unit::Kind::stream, .keys = keys};
  const Contents contents = take_apart(bytes, keys, most);
  std::uint64_t base = 0, range = 0;
  if (!contents.numbers.empty()) {
    base = std::ranges::min(contents.numbers);
    range = std::ranges::max(contents.numbers) - base;
  }
  const auto width = static_cast<std::size_t>(std::bit_width(range));
  const std::size_t size =
      head_bytes + contents.parts.size() * part_bytes + contents.bytes.size() + (contents.numbers.size() * width + 7) / 8;
  if (contents.parts.size() > most_parts || size > most) return std::nullopt;
  std::byte* out = slot.data();
  put(out, base);
  put(out, static_cast<std::uint8_t>(width));
  put(out, static_cast<std::uint8_t>(contents.parts.size()));
  for (const Part& part : contents.parts) {
    put(out, part.kind);
    put(out, part.count);
  }
  out = std::ranges::copy(contents.bytes, out).out;
  PackedNumbers numbers(width);
  for (const std::uint64_t number : contents.numbers) numbers.put_next(out, number - base);
  return Unit{.size = static_cast<std::uint16_t>(size), .kind = Unit::Kind::packed, .keys = keys};
}

}  // namespace

Unit pack(const std::byte* bytes, Slot& slot, std::size_t most) noexcept {
  if (zeros_at(bytes, 0) == unit_bytes) return {.kind = Unit::Kind::zeros};
  for (const Keys keys : {Keys::uniform, Keys::skewed})
    if (const auto unit = try_pack(bytes, slot, most, keys)) return *unit;
  return {.kind = Unit::Kind::plain};
}

void unpack(const Unit& unit, const Slot& slot, std::byte* bytes) noexcept {
  if (unit.kind == Unit::Kind::zeros) return void(std::memset(bytes, 0, unit_bytes));
  if (unit.kind == Unit::Kind::stream) return make_bytes(unit.place, unit_bytes, bytes, unit.keys);
  const std::byte* in = slot.data();
  const auto base = get<std::uint64_t>(in);
  const std::size_t width = get<std::uint8_t>(in), parts = get<std::uint8_t>(in);
  std::array<Part, most_parts + 1> part{};
  std::size_t others = 0;
  for (std::size_t i = 0; i < parts; ++i) {
    part[i].kind = get<Part::Kind>(in);
    part[i].count = get<std::uint16_t>(in);
    others += part[i].kind == Part::Kind::bytes ? part[i].count : 0;
  }
  const std::byte* const packed = in + others;
  PackedNumbers packed_numbers(width);
  Numbers numbers;
  for (std::size_t i = 0; i < parts; ++i) {
    const std::size_t count = part[i].count, size = count * (part[i].kind == Part::Kind::records ? record_bytes : 1);
    if (part[i].kind == Part::Kind::zeros) std::memset(bytes, 0, size);
    if (part[i].kind == Part::Kind::bytes) std::memcpy(bytes, std::exchange(in, in + size), size);
    if (part[i].kind == Part::Kind::records) {
      const std::span<std::uint64_t> of_part = std::span(numbers).first(count);
      for (std::uint64_t& number : of_part) number = base + packed_numbers.get_next(packed);
      make_records(of_part, bytes, unit.keys);
    }
    bytes += size;
  }
}

}  // namespace ecosort::scale
