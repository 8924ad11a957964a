// Pages for the run buffers before the reads need them.
//
// A read makes the system find and clear the pages that it lands in, on the coordinator and one after the other, while the drive
// waits for its next request. A thread of its own goes ahead of the reads; where they catch up with it, nothing is lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "pipeline/run_buffer.h"

namespace ecosort::pipeline {

// Coordinator only. The buffers outlive it.
class PopulateAhead {
 public:
  // The first `bytes` of this buffer will be read into, after those of the buffers before it.
  void add(const RunBuffer& run, std::uint64_t bytes);

  // Starts the thread, if there is something to do for it; where the system allows no more threads there is none.
  void begin();

  // Before the buffers go; waits for at most one step of the thread.
  void end();

 private:
  std::vector<std::span<std::byte>> wanted_;
  std::jthread thread_;
};

}  // namespace ecosort::pipeline
