// `ecosort merge --runs`: the runs that jobs left, into one output.
#pragma once

#include "cli/sort_options.h"
#include "job/prepare_merge.h"
#include "job/session.h"

namespace ecosort::cli {

// `words`: those behind --runs.
int merge_runs(const Words& words, double started_s);

// A merge of records that is prepared: runs it, and tells of it.
int merge_records(const SortOptions& options, job::PreparedMerge prepared, job::Session& session, double started_s);

}  // namespace ecosort::cli
