// Inputs of a job that only reads them: they must stay what they were when it began.
#pragma once

#include "demsort_inplace/job_directory.h"
#include "demsort_inplace/job_records.h"
#include "io/storage.h"

namespace ecosort::demsort_inplace {

// The identity of an open file with that state.
[[nodiscard]] InputIdentity identity_of(const io::File& file, const io::FileState& state);

// Returns the bytes of the inputs before a place in them.
[[nodiscard]] std::uint64_t bytes_before(const std::vector<InputIdentity>& inputs, const engine::rows::ReadPlace& place);

// An input is not what it was when the job began: what is in runs and what would follow do not belong together.
struct InputChanged : ExplainedIoError {
  using ExplainedIoError::ExplainedIoError;
};

// In place: IoError unless the open file, which gives up its space, is as this process left it.
void check_same_file(io::Storage& storage, const io::File& file, const io::FileState& then);

// Returns whether no one has written to the file between the two.
[[nodiscard]] bool is_same_file(const io::FileState& a, const io::FileState& b) noexcept;

// InputChanged unless the open file is what it was then.
void check_same_input(const io::FileState& now, const InputIdentity& then, const JobPaths& paths);

}  // namespace ecosort::demsort_inplace
