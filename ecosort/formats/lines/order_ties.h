// Orders the rows of a run that the first windows of their keys leave equal. Pure computation, inside the thread pool.
//
// A group of equal windows gets new windows from where its keys may differ, is sorted by them, and so on for the groups that are
// left. What the keys of a group have in common is passed over in one look. The groups that wait are a list, not calls within
// calls: how deep they nest depends on the rows. A group that is still not ordered after some windows is ordered by comparing,
// so that the time grows with the bytes that decide, and not with their square.
#pragma once

#include <cstddef>

#include "formats/lines/line_run.h"
#include "formats/row_format.h"

namespace ecosort::lines {

// entries[begin, end) of the run are sorted by the windows of level 0, which they keep. Rows that are equal in all levels keep
// their order.
void order_ties(const LineRun& run, const formats::RowFormat& order, std::size_t begin, std::size_t end);

}  // namespace ecosort::lines
