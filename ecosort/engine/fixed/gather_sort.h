// The sort of large records that are gathered from the inputs (GatherRecords).
#pragma once

#include "engine/fixed/sort.h"

namespace ecosort::engine::fixed {

// As sort() does, for a plan of Shape::gathered, without groups and a limit.
[[nodiscard]] SortReport gather_sort(SortJob& job, const Environment& environment);

}  // namespace ecosort::engine::fixed
