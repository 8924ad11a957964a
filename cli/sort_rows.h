// The sort of rows, of whatever format, as every command that has one runs it.
#pragma once

#include "base/errors.h"
#include "cli/advice.h"
#include "cli/end_at_once.h"
#include "cli/watched_run.h"
#include "job/prepare_rows.h"

namespace ecosort::cli {

// Sorts, watched; ends the program where the queue breaks (end_at_once.h). `sum_up(report)` is the JobSummary of it. Throws what
// sort_lines() does, with what to do about a drive that is full.
template <typename SumUp>
lines::LinesReport sort_rows(WatchedRun& run, lines::LinesJob& job, job::Session& session, const AdviceWords& words,
                             const SumUp& sum_up) {
  return run.watch(
      session,
      [&](const engine::Environment& environment) {
        try {
          return lines::sort_lines(job, environment);
        } catch (const io::QueueBroken& broken) {
          end_at_once(environment.progress, broken);
        } catch (const IoError& error) {
          const std::string advice = advice_on_failure(error.error_number(), words);
          if (advice.empty()) throw;
          throw IoError(error.what() + advice, error.error_number());
        }
      },
      sum_up);
}

}  // namespace ecosort::cli
