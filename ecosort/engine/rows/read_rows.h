// Blocks of runs, as they are merged: of stored ones read, checked, and unpacked where they are packed; of those that lie in an
// input read.
#pragma once

#include <cstdint>

#include "base/task.h"
#include "engine/compute.h"
#include "run/row_runs.h"

namespace ecosort::engine::rows {

// Coordinator only; unpacking is work of the thread pool. `data` has room for a block. IoError, DamagedRun.
[[nodiscard]] Task<run::BlockContents> read_rows(run::RowRuns& files, Compute& compute, run::RowRun& run, std::uint64_t block,
                                                 std::byte* data);

// Reads, but rows that are truncated stay so, in these bytes at `data`.
[[nodiscard]] Task<run::RowsOfBlock> read_truncated_rows(run::RowRuns& files, Compute& compute, run::RowRun& run,
                                                         std::uint64_t block, std::byte* data);

}  // namespace ecosort::engine::rows
