// Abandoning an in-place job: its records become one file again, unsorted, in the same space.
#pragma once

#include "demsort_inplace/workbench.h"

namespace ecosort::inplace {

// Of a job on the bench that is under way, or complete as an abandoned one.
[[nodiscard]] engine::SortReport put_back(Workbench& bench);

}  // namespace ecosort::inplace
