// Runs what was prepared for a program that called the library: an Observer looks on, a stop token ends it.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "demsort_inplace/job_bench.h"
#include "ecosort/ecosort.hpp"
#include "engine/fixed/sort.h"
#include "engine/rows/lines_sort.h"
#include "io/backends.h"
#include "io/posix_storage.h"

namespace ecosort::library {

// Says who looks on at a sort, and may end it.
struct Attendance {
  Observer* observer = nullptr;
  std::stop_token stop;
};

// Owns what was prepared. Where the queue breaks, that and the storage stay as long as the process.
using Work = std::function<Report(const demsort_inplace::JobContext& on)>;

// Throws what `work` throws, and IoError where the queue breaks.
[[nodiscard]] Report run(Work work, io::Backend backend, std::unique_ptr<io::PosixStorage> storage, const Attendance& attendance);

[[nodiscard]] Report report_of(const engine::fixed::SortReport& done);
// Rows that stay on top are not counted.
[[nodiscard]] Report report_of(const engine::rows::LinesReport& done);

}  // namespace ecosort::library
