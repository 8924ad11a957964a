// Measures how fast drives and processors are in a sort, as a run packer wants to know it before each run.
#pragma once

#include <cstdint>

#include "engine/bench.h"
#include "run/run_packer.h"

namespace ecosort::engine {

// Coordinator only. From the beginning of run formation on.
class PaceMeter {
 public:
  // Learns from what was written to runs where inputs are streams, of which no one knows what they wait for.
  PaceMeter(Bench& bench, run::RunPacker& packer, bool inputs_are_files);

  // So much of the inputs was read. Drives are as fast as they were while there was something for them to do; processors take
  // what they took for that.
  void tell(std::uint64_t input_bytes) const;

 private:
  Bench& bench_;
  run::RunPacker& packer_;
  bool inputs_are_files_;
  io::Traffic traffic_at_begin_;
  double begin_s_, processors_begin_s_;
};

}  // namespace ecosort::engine
