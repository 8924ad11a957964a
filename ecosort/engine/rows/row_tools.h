// The stages of a sort of rows work with these.
#pragma once

#include "base/block_pool.h"
#include "engine/bench.h"
#include "formats/row_format.h"
#include "plan/line_plan.h"
#include "run/row_runs.h"

namespace ecosort::lines {

// All of it outlives the stages.
struct ReadTools {
  engine::Bench& bench;
  const LinePlan& plan;
  const rows::RowFormat& format;
};

struct RowTools : ReadTools {
  RowRuns& files;
  BlockPool& pool;
};

}  // namespace ecosort::lines
