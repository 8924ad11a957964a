// Offers the command line what the planner knows of the cores of this machine: `--threads auto`.
#pragma once

#include "planner/cores.h"

namespace ecosort::job {

using planner::threads_for_cores;

}  // namespace ecosort::job
