// Measures how fast drives and processors are in a sort, as a run packer wants to know it before each run.
#pragma once

#include <cstdint>

#include "base/thread_time.h"
#include "engine/bench.h"
#include "run/run_packer.h"

namespace ecosort::engine {

// Coordinator only. From the beginning of run formation on. Measures nothing where the codec is not chosen by it.
class PaceMeter {
 public:
  // `reads_input`: from drives, and not from a stream.
  PaceMeter(Bench& bench, run::RunPacker& packer, bool reads_input);

  // After so much of the inputs was read, reports to the packer what drives and processors have taken since the beginning.
  void tell(std::uint64_t input_bytes) const;

 private:
  [[nodiscard]] double slowdown() const;  // of the threads that compute

  Bench& bench_;
  run::RunPacker& packer_;
  bool reads_input_;
  double cpu_s_at_begin_;
  ThreadTimes threads_at_begin_;
};

}  // namespace ecosort::engine
