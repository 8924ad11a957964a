#include "codec/truncate.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include "base/neon_bits.h"
#endif

namespace ecosort::codec {
namespace {

constexpr std::size_t step = 16;  // bytes that are looked at or copied at once
constexpr std::size_t most_head_bytes = 2 + 2 * sizeof(std::uint32_t);

#if defined(__SSE2__)
__m128i load(const char* at) noexcept { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)); }

std::uint64_t mask_of(__m128i bytes) noexcept { return static_cast<unsigned>(_mm_movemask_epi8(bytes)); }

// A bit for each of the bytes in which they agree, of so many steps.
template <unsigned Steps>
std::uint64_t agreeing(const char* a, const char* b) noexcept {
  std::uint64_t mask = 0;
  for (unsigned i = 0; i < Steps; ++i) mask |= mask_of(_mm_cmpeq_epi8(load(a + i * step), load(b + i * step))) << (i * step);
  return mask;
}

// Returns a bit for each byte of so many steps: set where it is this one.
template <unsigned Steps>
std::uint64_t equal_to(char byte, const char* at) noexcept {
  std::uint64_t mask = 0;
  for (unsigned i = 0; i < Steps; ++i) mask |= mask_of(_mm_cmpeq_epi8(load(at + i * step), _mm_set1_epi8(byte))) << (i * step);
  return mask;
}
#elif defined(__aarch64__)
uint8x16_t load(const char* at) noexcept { return vld1q_u8(reinterpret_cast<const std::uint8_t*>(at)); }

// `mask` of each of so many steps.
template <unsigned Steps, class Mask>
std::uint64_t joined(const Mask& mask) noexcept {
  if constexpr (Steps == 4) return bits_of(mask(0), mask(step), mask(2 * step), mask(3 * step));
  if constexpr (Steps == 2) return bits_of(mask(0), mask(step));
  static_assert(Steps == 1 || Steps == 2 || Steps == 4);
  return bits_of(mask(0), vdupq_n_u8(0));
}

template <unsigned Steps>
std::uint64_t agreeing(const char* a, const char* b) noexcept {
  return joined<Steps>([&](std::size_t at) { return vceqq_u8(load(a + at), load(b + at)); });
}

template <unsigned Steps>
std::uint64_t equal_to(char byte, const char* at) noexcept {
  return joined<Steps>([&](std::size_t i) { return vceqq_u8(load(at + i), vdupq_n_u8(static_cast<std::uint8_t>(byte))); });
}
#else
template <unsigned Steps>
std::uint64_t agreeing(const char* a, const char* b) noexcept {
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < Steps * step; ++i) mask |= std::uint64_t{a[i] == b[i]} << i;
  return mask;
}

template <unsigned Steps>
std::uint64_t equal_to(char byte, const char* at) noexcept {
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < Steps * step; ++i) mask |= std::uint64_t{at[i] == byte} << i;
  return mask;
}
#endif

// Looks at several steps at once, where so much may be read before `end`: how many a row takes no one can predict.
template <unsigned Steps, class Mask>
std::size_t first_of(const char* at, std::size_t most, const char* end, const Mask& mask) noexcept {
  for (std::size_t done = 0; done < most;) {
    const bool has_steps = static_cast<std::size_t>(end - at) >= done + Steps * step;
    const std::uint64_t found = has_steps ? mask.template operator()<Steps>(done) : mask.template operator()<1>(done);
    if (found != 0) return std::min(done + static_cast<std::size_t>(__builtin_ctzll(found)), most);
    done += has_steps ? Steps * step : step;
  }
  return most;
}

// The rows of a block on their way.
struct Rows {
  const char* readable_end = nullptr;  // less than a step behind the rows
  const char* end = nullptr;
  char terminator = '\n';
  const char *last = nullptr, *row = nullptr;
  std::size_t last_size = 0;
};

struct Split {
  std::size_t shared = 0, own = 0;
};

// A row is compared with the one before, whose length is known, and its end is looked for behind what they share.
Split split(const Rows& rows) noexcept {
  const auto left = static_cast<std::size_t>(rows.end - rows.row);
  const auto differing = [&]<unsigned Steps>(std::size_t at) noexcept {
    constexpr std::uint64_t all = ~std::uint64_t{0} >> (64 - Steps * step);
    return agreeing<Steps>(rows.last + at, rows.row + at) ^ all;
  };
  const std::size_t shared = first_of<4>(rows.row, std::min(rows.last_size, left), rows.readable_end, differing);
  const char* const rest = rows.row + shared;
  const auto ends = [&]<unsigned Steps>(std::size_t at) noexcept { return equal_to<Steps>(rows.terminator, rest + at); };
  return {shared, first_of<2>(rest, left - shared, rows.readable_end, ends)};
}

// Splits rows that are as short as the one before: both are looked for at once. Where the row is longer, as above.
Split split_short(const Rows& rows) noexcept {
  const std::uint64_t ends = equal_to<1>(rows.terminator, rows.row);
  const auto size = static_cast<std::size_t>(__builtin_ctzll(ends | 1U << step));
  if (ends == 0 || size >= static_cast<std::size_t>(rows.end - rows.row)) [[unlikely]]
    return split(rows);
  const std::uint64_t differing = ~agreeing<1>(rows.last, rows.row);
  const std::size_t shared = std::min({static_cast<std::size_t>(__builtin_ctzll(differing)), rows.last_size, size});
  return {shared, size - shared};
}

// Most rows are copied without a branch, where so much may be read and written.
void copy_own(char* to, const char* from, std::size_t size, const char* readable_end) noexcept {
  constexpr std::size_t at_once = 2 * step;
  if (size <= at_once && static_cast<std::size_t>(readable_end - from) >= at_once) [[likely]]
    std::memmove(to, from, at_once);
  else
    std::memcpy(to, from, size);
}

char* put_number(char* to, std::size_t value) noexcept {
  const auto number = static_cast<std::uint32_t>(value);
  std::memcpy(to, &number, sizeof number);
  return to + sizeof number;
}

// Returns where the row's own bytes go.
char* put_head(char* to, std::size_t shared, std::size_t own) noexcept {
  to[0] = static_cast<char>(std::min<std::size_t>(shared, more_follow));
  to[1] = static_cast<char>(std::min<std::size_t>(own, more_follow));
  to += 2;
  if (shared >= more_follow) to = put_number(to, shared);
  if (own >= more_follow) to = put_number(to, own);
  return to;
}

}  // namespace

std::optional<TruncatedRows> truncate(const RowsToTruncate& in, std::span<std::byte> to) {
  const char* const begin = reinterpret_cast<const char*>(in.rows.data());
  char *const out = reinterpret_cast<char*>(to.data()), *at = out;
  if (in.carried > to.size()) return std::nullopt;
  std::memcpy(at, begin, in.carried);
  at += in.carried;
  Rows rows{begin + in.rows.size() + truncation_slack_bytes, begin + in.rows.size(), in.terminator, begin, begin + in.carried};
  bool is_last_whole = true;
  while (rows.row < rows.end) {
    const auto [shared, own] = rows.last_size < step ? split_short(rows) : split(rows);
    const char* const rest = rows.row + shared;
    if (static_cast<std::size_t>(out + to.size() - at) < most_head_bytes + own + 2 * step) return std::nullopt;
    at = put_head(at, shared, own);
    copy_own(at, rest, own, rows.readable_end);
    at += own;
    is_last_whole = rest + own < rows.end;
    rows.last = rows.row;
    rows.last_size = shared + own;
    rows.row = rest + own + (is_last_whole ? 1 : 0);
  }
  return TruncatedRows{static_cast<std::size_t>(at - out), is_last_whole};
}

bool restore(std::span<const std::byte> truncated, bool is_last_whole, char terminator, std::size_t carried,
             std::span<std::byte> to) {
  if (carried > truncated.size() || carried > to.size()) return false;
  const char *at = reinterpret_cast<const char*>(truncated.data()), *const end = at + truncated.size();
  char *row = reinterpret_cast<char*>(to.data()), *const out_end = row + to.size(), *last = row;
  std::memcpy(row, at, carried);
  at += carried;
  row += carried;
  for (std::size_t last_size = 0; at < end;) {
    const std::optional<TruncatedRow> next = truncated_row_at(at, end);
    if (!next || next->shared > last_size || next->own > static_cast<std::size_t>(end - next->bytes)) return false;
    at = next->bytes + next->own;
    const std::size_t size = next->shared + next->own;
    const bool is_whole = at < end || is_last_whole;
    const auto room = static_cast<std::size_t>(out_end - row);
    if (size + (is_whole ? 1 : 0) > room) return false;
    if (size + 2 * step <= room) {
      copy_own(row, last, next->shared, out_end);
      copy_own(row + next->shared, next->bytes, next->own, end);
    } else {
      std::memcpy(row, last, next->shared);
      std::memcpy(row + next->shared, next->bytes, next->own);
    }
    last = row;
    last_size = size;
    row += size;
    if (is_whole) *row++ = terminator;
  }
  return row == out_end;
}

}  // namespace ecosort::codec
