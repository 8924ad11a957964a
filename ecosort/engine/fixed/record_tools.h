// The stages of a sort of records work with these.
#pragma once

#include "engine/bench.h"
#include "formats/records/encoder.h"
#include "run/record_runs.h"

namespace ecosort::engine::fixed {

// All of it outlives the stages.
struct RecordTools {
  Bench& bench;
  const records::Encoder& encoder;
  run::RecordRuns& store;
};

}  // namespace ecosort::engine::fixed
