// Runs what was prepared, for callers that are no command line: an Observer looks on, a stop token ends it.
#pragma once

#include <stop_token>

#include "ecosort/ecosort.hpp"
#include "io/storage.h"
#include "job/prepare_records.h"
#include "job/prepare_rows.h"

namespace ecosort::job {

// Who looks on at a sort, and may end it.
struct Attendance {
  Observer* observer = nullptr;
  std::stop_token stop;
};

// Throws as ecosort::sort() says; whatever is thrown, nothing is left behind.
[[nodiscard]] Report run_records(PreparedRecords prepared, const std::string& io, std::unique_ptr<io::Storage> storage,
                                 const Attendance& attendance);
[[nodiscard]] Report run_lines(PreparedLines prepared, const std::string& io, std::unique_ptr<io::Storage> storage,
                               const Attendance& attendance);

// What a queue must accept for this plan.
[[nodiscard]] unsigned queue_depth(const planner::Plan& plan) noexcept;

}  // namespace ecosort::job
