// The stages of a sort of rows work with these.
#pragma once

#include "base/block_pool.h"
#include "engine/bench.h"
#include "formats/row_format.h"
#include "planner/line_plan.h"
#include "run/row_runs.h"

namespace ecosort::engine::rows {

// All of it outlives the stages.
struct ReadTools {
  Bench& bench;
  const planner::LinePlan& plan;
  const formats::RowFormat& format;
};

struct RowTools : ReadTools {
  run::RowRuns& files;
  BlockPool& pool;
};

}  // namespace ecosort::engine::rows
