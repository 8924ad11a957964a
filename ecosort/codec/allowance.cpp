#include "codec/allowance.h"

#include <cstdlib>
#include <new>

namespace ecosort::codec {
namespace {

// In front of each piece: its size. As large as malloc() aligns.
constexpr std::size_t head_bytes = alignof(std::max_align_t);
static_assert(head_bytes >= sizeof(std::size_t));

}  // namespace

bool Allowance::take(std::uint64_t bytes) noexcept {
  const std::uint64_t now = used_ += bytes;
  if (now > limit_) {
    used_ -= bytes;
    refused_ = now;
    return false;
  }
  for (std::uint64_t peak = peak_; peak < now && !peak_.compare_exchange_weak(peak, now);) {
  }
  return true;
}

void* Allowance::allocate(std::size_t bytes) noexcept {
  if (bytes > SIZE_MAX - head_bytes || !take(bytes)) return nullptr;
  auto* const piece = static_cast<std::byte*>(std::malloc(head_bytes + bytes));
  if (piece == nullptr) {
    give(bytes);
    return nullptr;
  }
  ::new (piece) std::size_t(bytes);
  return piece + head_bytes;
}

void Allowance::give_back(void* memory) noexcept {
  if (memory == nullptr) return;
  std::byte* const piece = static_cast<std::byte*>(memory) - head_bytes;
  give(*reinterpret_cast<const std::size_t*>(piece));
  std::free(piece);
}

}  // namespace ecosort::codec
