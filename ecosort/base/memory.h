// Counted memory: one allocator that refuses to exceed what `--memory` allows (promise P8).
//
// Everything that grows with the input (record buffers, indexes, forecast tables, I/O blocks) is a Buffer from here. What
// does not grow (code, thread stacks, coroutine frames, library tables) is the stated fixed overhead of <= 32 MiB.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "base/idle_pages.h"

namespace ecosort {

inline constexpr std::uint64_t KiB = 1024, MiB = 1024 * KiB;
class MemoryBudget;

// Large pages save most of the TLB misses of random access; the system clears each as a whole when its first byte is touched,
// which is expensive where a buffer is used for little more than that.
enum class Pages : std::uint8_t { large, small };

// Page-aligned anonymous memory that belongs to a budget. Untouched pages cost nothing. What is in it at first is unspecified: in
// large pages it may be what another buffer of the budget held. Move-only.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer(static_cast<Buffer&&>(other)).swap(*this);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }  // bytes
  [[nodiscard]] explicit operator bool() const noexcept { return data_ != nullptr; }

  // The buffer as an array of T (trivial types only; page alignment satisfies every T here).
  template <class T>
  [[nodiscard]] std::span<T> as() const noexcept {
    return {reinterpret_cast<T*>(data_), size_ / sizeof(T)};
  }

  void swap(Buffer& other) noexcept;

 private:
  friend class MemoryBudget;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  Pages pages_ = Pages::large;
  MemoryBudget* budget_ = nullptr;
};

// Thread-safe. Outlives its buffers.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t limit_bytes) : limit_(limit_bytes) {}

  // At least `bytes` (rounded up to whole pages). InternalError when the plan asks for more than the limit, since the plan
  // was made to fit; IoError when the system has no memory left.
  [[nodiscard]] Buffer allocate(std::size_t bytes, const char* purpose, Pages pages = Pages::large);

  // Replaces the number of bytes that are in use elsewhere and that the plan counts (tables on the heap): pages that wait to
  // serve again make room for them. One thread.
  void count_elsewhere(std::uint64_t bytes) noexcept;

  [[nodiscard]] std::uint64_t limit_bytes() const noexcept { return limit_; }
  [[nodiscard]] std::uint64_t used_bytes() const noexcept { return used_; }
  [[nodiscard]] std::uint64_t peak_bytes() const noexcept { return peak_; }
  // These pages were given back and may serve again.
  [[nodiscard]] std::uint64_t idle_bytes() const noexcept;

 private:
  friend class Buffer;
  void give_back(std::span<std::byte> memory, Pages pages) noexcept;
  [[nodiscard]] std::byte* map(std::size_t size, Pages pages);
  void note_peak(std::uint64_t now) noexcept;
  void trim_idle() noexcept;  // under the lock

  std::uint64_t limit_, elsewhere_ = 0;
  std::atomic<std::uint64_t> used_ = 0, peak_ = 0;
  mutable std::mutex mutex_;
  IdlePages idle_;  // with what is used never more than the limit
};

// Asks the system for the pages of [data, data + size) of a buffer at once, on the calling thread. What is in them stays as it
// is, also where others write to them meanwhile. Where the system cannot do it (before Linux 5.14) nothing happens. Thread-safe.
void populate(std::byte* data, std::size_t size) noexcept;

inline constexpr std::size_t page_bytes = 4096;

[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) noexcept {
  return (value + unit - 1) / unit * unit;
}
[[nodiscard]] constexpr std::uint64_t round_down(std::uint64_t value, std::uint64_t unit) noexcept { return value / unit * unit; }
[[nodiscard]] constexpr std::uint64_t div_up(std::uint64_t value, std::uint64_t unit) noexcept {
  return (value + unit - 1) / unit;
}

}  // namespace ecosort
