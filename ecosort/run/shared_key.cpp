#include "run/shared_key.h"

#include <algorithm>
#include <utility>

namespace ecosort::run {

std::uint64_t SharedKey::sample_size(const records::Encoder& encoder) const noexcept {
  const bool is_first = reference_.empty() && !encoder.decides() && !knows_nothing_;
  return std::max<std::uint64_t>(is_first ? KeySample::most(encoder.record_size()) : 0, 2);
}

std::uint64_t SharedKey::take_in(const records::Encoder& encoder, std::span<const std::byte* const> sample) {
  const std::uint64_t before = depth_;
  if (encoder.decides() || knows_nothing_) return before;
  const std::byte *first = sample.front(), *last = sample.back();
  if (reference_.empty()) {
    reference_.assign(first, first + encoder.record_size());
    key_sample_.choose(encoder, sample);
    depth_ = encoder.common_key_bytes(first, last, 0);
    return depth_;  // there are no keys yet
  }
  for (const std::byte* record : {first, last}) depth_ = std::min(depth_, encoder.common_key_bytes(reference_.data(), record, 0));
  return before;
}

std::uint64_t SharedKey::take_in_unknown() noexcept {
  knows_nothing_ = true;
  return std::exchange(depth_, 0);
}

records::KeyWindow SharedKey::window_of(const records::Encoder& encoder, const std::byte* record) const noexcept {
  return depth_ == 0 ? encoder.first_window(record) : encoder.window(record, depth_);
}

ForecastKey SharedKey::key_of(const records::Encoder& encoder, const std::byte* record) const noexcept {
  const records::KeyWindow window = window_of(encoder, record);
  return {window.prefix, window.extension, key_sample_.place_of(encoder, record)};
}

std::strong_ordering SharedKey::compare(const records::Encoder& encoder, const std::byte* record,
                                        const ForecastKey& key) const noexcept {
  const records::KeyWindow window = window_of(encoder, record);
  if (window.prefix != key.prefix) return window.prefix <=> key.prefix;
  if (window.extension != key.extension) return window.extension <=> key.extension;
  return key_sample_.compare(encoder, record, key.place);
}

// The bytes between the two depths are the reference's; the rest of the twelve are those the key begins with.
ForecastKey SharedKey::moved(const records::Encoder& encoder, ForecastKey key, std::uint64_t from,
                             std::uint64_t to) const noexcept {
  const auto bytes_between = static_cast<std::uint32_t>(std::min<std::uint64_t>(from - to, records::Encoder::window_bytes));
  const records::KeyWindow between = encoder.window(reference_.data(), to);
  std::uint32_t bytes[records::Encoder::window_bytes];
  const auto byte_of = [](std::uint64_t prefix, std::uint32_t extension, std::uint32_t i) {
    return static_cast<std::uint32_t>(i < 8 ? prefix >> (56 - 8 * i) : extension >> (88 - 8 * i)) & 0xffU;
  };
  for (std::uint32_t i = 0; i < records::Encoder::window_bytes; ++i) {
    bytes[i] =
        i < bytes_between ? byte_of(between.prefix, between.extension, i) : byte_of(key.prefix, key.extension, i - bytes_between);
  }
  ForecastKey result{.place = key.place};
  for (std::uint32_t i = 0; i < 8; ++i) result.prefix = result.prefix << 8U | bytes[i];
  for (std::uint32_t i = 8; i < records::Encoder::window_bytes; ++i) result.extension = result.extension << 8U | bytes[i];
  return result;
}

}  // namespace ecosort::run
