#include "base/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/errors.h"
#include "base/system_page.h"

namespace ecosort {

Buffer::~Buffer() {
  if (data_ != nullptr) budget_->give_back({data_, size_}, pages_);
}

void Buffer::swap(Buffer& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(pages_, other.pages_);
  std::swap(budget_, other.budget_);
}

Buffer MemoryBudget::allocate(std::size_t bytes, const char* purpose, Pages pages) {
  const std::size_t size = round_up(bytes == 0 ? 1 : bytes, page_bytes);
  const std::uint64_t now = used_ += size;
  if (now > limit_) {
    used_ -= size;
    throw InternalError(fmt::format("the plan exceeds the memory limit: {} bytes for {} on top of {} of {} bytes", size, purpose,
                                    now - size, limit_));
  }
  std::byte* const data = map(size, pages);
  if (data == nullptr) {
    used_ -= size;
    throw IoError(fmt::format("cannot get {} bytes of memory for {}: the system refused", size, purpose), ENOMEM);
  }
  note_peak(now);
  Buffer buffer;
  buffer.data_ = data;
  buffer.size_ = size;
  buffer.pages_ = pages;
  buffer.budget_ = this;
  return buffer;
}

// `size` bytes that are counted already; null: the system has none.
std::byte* MemoryBudget::map(std::size_t size, Pages pages) {
  {
    const std::lock_guard lock(mutex_);
    const std::span<std::byte> idle = pages == Pages::large ? idle_.take(size) : std::span<std::byte>{};
    trim_idle();
    if (!idle.empty()) return idle.data();
  }
  const auto system = [size] {
    return ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  };
  void* address = system();
  if (address == MAP_FAILED) {
    const std::lock_guard lock(mutex_);
    idle_.keep_at_most(0);
    address = system();
  }
  if (address == MAP_FAILED) return nullptr;
  ::madvise(address, size, pages == Pages::large ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  return static_cast<std::byte*>(address);
}

void MemoryBudget::note_peak(std::uint64_t now) noexcept {
  for (std::uint64_t seen = peak_; now > seen && !peak_.compare_exchange_weak(seen, now);) {
  }
}

void MemoryBudget::trim_idle() noexcept {
  idle_.keep_at_most(round_down(limit_ - std::min<std::uint64_t>(used_, limit_), page_bytes));
}

void MemoryBudget::count_elsewhere(std::uint64_t bytes) noexcept {
  note_peak(used_ += bytes - std::exchange(elsewhere_, bytes));
  const std::lock_guard lock(mutex_);
  trim_idle();
}

std::uint64_t MemoryBudget::idle_bytes() const noexcept {
  const std::lock_guard lock(mutex_);
  return idle_.bytes();
}

void MemoryBudget::give_back(std::span<std::byte> memory, Pages pages) noexcept {
  if (pages == Pages::large) {
    const std::lock_guard lock(mutex_);
    idle_.add(memory);
  } else {
    ::munmap(memory.data(), memory.size());
  }
  used_ -= memory.size();
}

void populate(std::byte* data, std::size_t size) noexcept {
#ifdef MADV_POPULATE_WRITE
  const std::size_t lead = reinterpret_cast<std::uintptr_t>(data) % system_page_bytes();
  ::madvise(data - lead, size + lead, MADV_POPULATE_WRITE);
#else
  static_cast<void>(data), static_cast<void>(size);
#endif
}

}  // namespace ecosort
