// `ecosort sort --resumable`: the external sort whose runs and checkpoints outlive a crash.
//
// The same job as in place, in `OUTPUT.ecosort/`, but for its input: that is only read. So nothing can be lost; what the journal
// saves is the work. Runs are cut off as the output grows, each time after the checkpoint that made the output durable.
#pragma once

#include <string>
#include <vector>

#include "demsort_inplace/workbench.h"

namespace ecosort::inplace {

// What a job must remember of its inputs. `inputs` are regular files.
[[nodiscard]] std::vector<InputIdentity> identities(const std::vector<engine::Input>& inputs);

// Sorts the inputs, which are those of the header, into `output`; what stands there is replaced when the result is complete.
// Throws as sort() does. Until the job directory is complete a failure leaves nothing behind; from then on the job can be
// resumed, whatever is thrown.
[[nodiscard]] engine::SortReport start_resumable(const std::string& output, std::vector<engine::Input> inputs,
                                                 const JobHeader& header, const planner::Plan& plan,
                                                 const Environment& environment);

// A job on the bench that is under way, or complete. InputChanged where an input is another file than it was; once all records
// are in runs an input may be missing.
[[nodiscard]] engine::SortReport go_on_with_sort(Workbench& bench);

// Removes the job and all that it made.
[[nodiscard]] engine::SortReport remove_sort(Workbench& bench);

}  // namespace ecosort::inplace
