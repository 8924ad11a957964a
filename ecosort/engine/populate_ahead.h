// Pages for the run buffers before the reads need them.
//
// A read makes the system find and clear the pages that it lands in, on the coordinator and one after the other, while the drive
// waits for its next request. A thread of its own goes ahead of the reads; where they catch up with it, nothing is lost.
#pragma once

#include <cstddef>
#include <span>
#include <thread>
#include <vector>

namespace ecosort::engine {

// Coordinator only. The memory outlives it.
class PopulateAhead {
 public:
  // These will be read into, after those that were added before.
  void add(std::span<std::byte> bytes);

  // Starts the thread, if there is something to do for it; where the system allows no more threads there is none.
  void begin();

  // Before the buffers go; waits for at most one step of the thread.
  void end();

 private:
  std::vector<std::span<std::byte>> wanted_;
  std::jthread thread_;
};

}  // namespace ecosort::engine
