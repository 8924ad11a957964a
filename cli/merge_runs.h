// `ecosort merge --runs`: the runs that jobs left, into one output.
#pragma once

#include "cli/sorts.h"
#include "job/prepare_merge.h"
#include "job/session.h"

namespace ecosort::cli {

// `words` begin with --runs.
int merge_runs(const Words& words, double started_s);

// A merge of records that is prepared: runs it, and tells of it.
int merge_records(const CommandLine& line, job::PreparedMerge prepared, job::Session& session, double started_s);

}  // namespace ecosort::cli
