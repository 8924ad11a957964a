// Abandoning an in-place job: its records become one file again, unsorted, in the same space.
#pragma once

#include "demsort_inplace/workbench.h"

namespace ecosort::demsort_inplace {

// Brings a job on the bench that is under way, or complete, to its end.
void put_back(Workbench& bench);

}  // namespace ecosort::demsort_inplace
