// Divides the memory of a sort of rows by what is known of its inputs.
#pragma once

#include <cstdint>

#include "ecosort/request.hpp"
#include "engine/rows/lines_sort.h"
#include "planner/machine.h"

namespace ecosort::job {

struct RowMeans {
  std::uint64_t memory_bytes = 0;
  unsigned threads = 1;
  std::uint64_t assumed_bytes = 0;  // of rows that are not there; 0: the inputs are
};

// UsageError for what is too little or more than there is, unless it is a suggestion: that becomes the nearest that can be.
[[nodiscard]] std::uint64_t row_memory_of(const Means& means, const planner::Machine& machine = planner::read_machine());

void plan_memory(const Request& request, const RowMeans& means, engine::rows::LinesJob& job);
// Plans again when more is known of the inputs. The queue is there by then.
void plan_memory_again(const Request& request, const RowMeans& means, engine::rows::LinesJob& job);

}  // namespace ecosort::job
