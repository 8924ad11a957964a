#include "codec/truncate.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace ecosort::codec {
namespace {

constexpr std::size_t step = 16;  // bytes that are looked at or copied at once
constexpr unsigned char more_follow = 255;
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

// Likewise for each that is this one.
template <unsigned Steps>
std::uint64_t equal_to(char byte, const char* at) noexcept {
  std::uint64_t mask = 0;
  for (unsigned i = 0; i < Steps; ++i) mask |= mask_of(_mm_cmpeq_epi8(load(at + i * step), _mm_set1_epi8(byte))) << (i * step);
  return mask;
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

// How many steps a row takes no one can predict, so there are several at once, where so much may be read before `end`.
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

// In how many bytes they agree, at most `most`. What may be read of b ends at `end`, less than a step behind these.
std::size_t common(const char* a, const char* b, std::size_t most, const char* end) noexcept {
  return first_of<4>(b, most, end, [&]<unsigned Steps>(std::size_t at) noexcept {
    constexpr std::uint64_t all = ~std::uint64_t{0} >> (64 - Steps * step);
    return agreeing<Steps>(a + at, b + at) ^ all;
  });
}

// Bytes before the terminator, at most `most`, likewise.
std::size_t size_before(char terminator, const char* at, std::size_t most, const char* end) noexcept {
  return first_of<2>(at, most, end,
                     [&]<unsigned Steps>(std::size_t done) noexcept { return equal_to<Steps>(terminator, at + done); });
}

// Both have so much behind their end.
void copy_wide(char* to, const char* from, std::size_t size) noexcept {
  if (size <= truncation_slack_bytes) [[likely]]
    std::memmove(to, from, truncation_slack_bytes);
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

// A row is compared with the one before, whose length is known, and its end is looked for behind what they share.
std::optional<TruncatedRows> truncate(const RowsToTruncate& in, std::span<std::byte> to) {
  const char* const rows = reinterpret_cast<const char*>(in.rows.data());
  const char *const end = rows + in.rows.size(), *row = rows + in.carried, *last = row;
  char *const out = reinterpret_cast<char*>(to.data()), *at = out;
  if (in.carried > to.size()) return std::nullopt;
  std::memcpy(at, rows, in.carried);
  at += in.carried;
  bool is_last_whole = true;
  for (std::size_t last_size = 0; row < end;) {
    const std::size_t shared =
        common(last, row, std::min(last_size, static_cast<std::size_t>(end - row)), end + truncation_slack_bytes);
    const char* const rest = row + shared;
    const auto left = static_cast<std::size_t>(end - rest);
    const std::size_t own = size_before(in.terminator, rest, left, end + truncation_slack_bytes);
    if (static_cast<std::size_t>(out + to.size() - at) < most_head_bytes + own + step) return std::nullopt;
    at = put_head(at, shared, own);
    copy_wide(at, rest, own);
    at += own;
    last = row;
    last_size = shared + own;
    is_last_whole = own < left;
    row = rest + own + (is_last_whole ? 1 : 0);
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
    if (size + 2 * step <= room && static_cast<std::size_t>(end - next->bytes) >= step) [[likely]] {
      copy_wide(row, last, next->shared);
      copy_wide(row + next->shared, next->bytes, next->own);
    } else {
      std::memmove(row, last, next->shared);
      if (next->own > 0) std::memcpy(row + next->shared, next->bytes, next->own);
    }
    last = row;
    last_size = size;
    row += size;
    if (is_whole) *row++ = terminator;
  }
  return row == out_end;
}

}  // namespace ecosort::codec
