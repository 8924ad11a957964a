// The sort of rows, of whatever format, as every command that has one runs it.
#pragma once

#include "cli/end_at_once.h"
#include "cli/watched_run.h"
#include "engine/rows/lines_sort.h"
#include "io/queue.h"
#include "io/storage.h"

namespace ecosort::cli {

// Sorts, watched; ends the program where the queue breaks (end_at_once.h). `sum_up(report)` is the JobSummary of it. Throws what
// sort_lines() does.
template <typename SumUp>
lines::LinesReport sort_rows(WatchedRun& run, lines::LinesJob& job, io::Storage& storage, io::Queue& queue, const SumUp& sum_up) {
  return run.watch(
      queue,
      [&](auto& progress, auto& log, const auto& interrupted) {
        try {
          return lines::sort_lines(job, {storage, queue, progress, log, interrupted});
        } catch (const io::QueueBroken& broken) {
          end_at_once(progress, broken);
        }
      },
      sum_up);
}

}  // namespace ecosort::cli
