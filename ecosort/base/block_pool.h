// Blocks of one size that are filled, written behind, and filled again: a counted resource with the memory that it counts.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/cancel_scope.h"
#include "base/memory.h"
#include "base/task.h"

namespace ecosort {

// Coordinator only. No block may be in use when it dies.
class BlockPool {
 public:
  // `memory` holds `blocks` blocks of `block_bytes`; without blocks it may be empty.
  BlockPool(CancelScope& scope, Buffer memory, std::size_t block_bytes, std::size_t blocks)
      : memory_(std::move(memory)), block_bytes_(block_bytes), free_(scope, blocks) {
    for (std::size_t i = 0; i < blocks; ++i) idle_.push_back(memory_.data() + i * block_bytes);
  }

  // Waits for a free block, first come first served; the one that was given back last, because it is still in the caches.
  [[nodiscard]] Task<std::byte*> take() {
    co_await free_.take();
    std::byte* const block = idle_.back();
    idle_.pop_back();
    co_return block;
  }
  void give(std::byte* block) {
    idle_.push_back(block);
    free_.give();
  }
  [[nodiscard]] bool has_idle() const noexcept { return free_.free() > 0; }  // take() will not wait

  [[nodiscard]] std::size_t block_bytes() const noexcept { return block_bytes_; }
  // The number of the block that `address` lies in, from 0, and where that block begins.
  [[nodiscard]] std::size_t number_of(const std::byte* address) const noexcept {
    return static_cast<std::size_t>(address - memory_.data()) / block_bytes_;
  }
  [[nodiscard]] std::byte* block_of(const std::byte* address) const noexcept {
    return memory_.data() + number_of(address) * block_bytes_;
  }

 private:
  Buffer memory_;
  std::size_t block_bytes_;
  Semaphore free_;
  std::vector<std::byte*> idle_;
};

}  // namespace ecosort
