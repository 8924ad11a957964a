// `ecosort lines --inplace`, and the plan of such a sort.
#pragma once

#include "cli/rows_command.h"
#include "job/session.h"

namespace ecosort::cli {

// The exit code.
int run_lines_in_place(const RowsCommand& command, double started_s);

// Prints the plan for people, or for programs. NotEnoughSpace as the sort; programs have their plan then, too.
void plan_lines_in_place(const Request& request, bool is_json, io::PosixStorage& storage);

}  // namespace ecosort::cli
