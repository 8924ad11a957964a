// Memory of decoders and encoders: so much, and what they take of it is counted. A library that asks for more gets none.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ecosort::codec {

// Thread-safe. Outlives what took of it.
class Allowance {
 public:
  explicit Allowance(std::uint64_t limit_bytes) : limit_(limit_bytes) {}

  // Are malloc() and free() with an account. Null where it would be too much, refused_bytes() then returns how much.
  [[nodiscard]] void* allocate(std::size_t bytes) noexcept;
  void give_back(void* memory) noexcept;

  // Count what a library allocates by itself. False: it would be too much.
  [[nodiscard]] bool take(std::uint64_t bytes) noexcept;
  void give(std::uint64_t bytes) noexcept { used_ -= bytes; }

  [[nodiscard]] std::uint64_t limit_bytes() const noexcept { return limit_; }
  [[nodiscard]] std::uint64_t peak_bytes() const noexcept { return peak_; }
  // Returns what would have been used with the request that was refused last; 0: none was.
  [[nodiscard]] std::uint64_t refused_bytes() const noexcept { return refused_; }

 private:
  std::uint64_t limit_;
  std::atomic<std::uint64_t> used_ = 0, peak_ = 0, refused_ = 0;
};

// free() as the libraries call it, with the Allowance as their opaque pointer.
inline void give_back_to_allowance(void* allowance, void* memory) noexcept {
  static_cast<Allowance*>(allowance)->give_back(memory);
}

}  // namespace ecosort::codec
