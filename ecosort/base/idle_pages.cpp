#include "base/idle_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>

#include "base/memory.h"
#include "base/system_page.h"

namespace ecosort {
namespace {

constexpr std::size_t most_mappings = 16;
constexpr std::size_t large_page_bytes = std::size_t{2} << 20U;

// A size that is no multiple of the system's pages takes the rest of its last one.
std::size_t whole_pages(std::size_t size) noexcept { return round_up(size, system_page_bytes()); }

void unmap(std::span<std::byte> mapping) noexcept {
  if (!mapping.empty()) ::munmap(mapping.data(), mapping.size());
}

// Moves a mapping to where it can have `size` bytes, as far from the border of a large page as it was, so that its large pages
// stay what they are. Empty: the system refused, and it is where it was.
std::span<std::byte> grow(std::span<std::byte> mapping, std::size_t size) noexcept {
  const std::size_t reserved = whole_pages(size) + large_page_bytes;
  void* const place = ::mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) return {};
  const std::span around(static_cast<std::byte*>(place), reserved);
  const std::size_t lead =
      (reinterpret_cast<std::uintptr_t>(mapping.data()) - reinterpret_cast<std::uintptr_t>(place)) % large_page_bytes;
  const std::span target = around.subspan(lead, size), behind = around.subspan(lead + whole_pages(size));
  const void* const moved = ::mremap(mapping.data(), mapping.size(), size, MREMAP_MAYMOVE | MREMAP_FIXED, target.data());
  unmap(around.first(lead));
  unmap(behind);
  if (moved == MAP_FAILED) return {};  // the place may be another's by now: it is left alone
  return target;
}

}  // namespace

IdlePages::IdlePages() { mappings_.reserve(most_mappings); }

void IdlePages::add(std::span<std::byte> mapping) noexcept {
  if (mapping.size() < least_bytes || mappings_.size() == most_mappings) return unmap(mapping);
  const auto smaller = [](std::span<std::byte> a, std::span<std::byte> b) { return a.size() < b.size(); };
  mappings_.insert(std::ranges::upper_bound(mappings_, mapping, smaller), mapping);
  bytes_ += mapping.size();
}

std::span<std::byte> IdlePages::take(std::size_t size) noexcept {
  if (mappings_.empty() || size < least_bytes) return {};
  const auto fits = std::ranges::find_if(mappings_, [size](std::span<std::byte> mapping) { return mapping.size() >= size; });
  const auto chosen = fits != mappings_.end() ? fits : std::prev(mappings_.end());
  const std::span mapping = *chosen;
  mappings_.erase(chosen);
  bytes_ -= mapping.size();
  if (mapping.size() >= size) {
    add(mapping.subspan(std::min(whole_pages(size), mapping.size())));
    return mapping.first(size);
  }
  const std::span grown = grow(mapping, size);
  if (grown.empty()) unmap(mapping);
  return grown;
}

void IdlePages::keep_at_most(std::size_t bytes) noexcept {
  while (bytes_ > bytes) {
    const std::span mapping = mappings_.front();
    const std::size_t excess = whole_pages(bytes_ - bytes), kept = whole_pages(mapping.size() - std::min(mapping.size(), excess));
    mappings_.erase(mappings_.begin());
    bytes_ -= mapping.size();
    unmap(mapping.subspan(kept));
    add(mapping.first(kept));
  }
}

}  // namespace ecosort
