#include "base/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <utility>

#include "base/errors.h"

namespace ecosort {

Buffer::~Buffer() {
  if (data_ == nullptr) return;
  ::munmap(data_, size_);
  budget_->give_back(size_);
}

void Buffer::swap(Buffer& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
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
  void* address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) {
    used_ -= size;
    throw IoError(fmt::format("cannot get {} bytes of memory for {}: the system refused; give less with --memory", size, purpose),
                  ENOMEM);
  }
  ::madvise(address, size, pages == Pages::large ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  for (std::uint64_t seen = peak_; now > seen && !peak_.compare_exchange_weak(seen, now);) {
  }
  Buffer buffer;
  buffer.data_ = static_cast<std::byte*>(address);
  buffer.size_ = size;
  buffer.budget_ = this;
  return buffer;
}

void populate(std::byte* data, std::size_t size) noexcept {
#ifdef MADV_POPULATE_WRITE
  const std::size_t lead = reinterpret_cast<std::uintptr_t>(data) % page_bytes;
  ::madvise(data - lead, size + lead, MADV_POPULATE_WRITE);
#else
  static_cast<void>(data), static_cast<void>(size);
#endif
}

}  // namespace ecosort
