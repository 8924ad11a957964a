// A merge of sorted files of records: everything is checked and opened, nothing is created (promise P9).
#pragma once

#include <vector>

#include "engine/fixed/merge_files.h"
#include "job/prepare_records.h"

namespace ecosort::job {

// The inputs of `request` are sorted by its keys. UsageError and its kinds for what cannot be.
[[nodiscard]] engine::fixed::MergeFilesJob prepare_merge(const Request& request, io::PosixStorage& storage);

// Prepares files that are open, or runs of jobs. `rest` goes out behind them as it is.
[[nodiscard]] engine::fixed::MergeFilesJob prepare_merge(const Request& request, std::vector<engine::fixed::Input> inputs,
                                                         std::vector<engine::fixed::Input> rest, io::PosixStorage& storage);

}  // namespace ecosort::job
