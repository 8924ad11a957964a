// All commands, in the order in which the help tells of them.
#include "cli/option_table.h"
#include "cli/tables/tables.h"

namespace ecosort::cli {

const std::vector<CommandTable>& command_tables() {
  static const std::vector<CommandTable> tables{
      sort_table(),   inplace_table(),   resume_table(),  lines_table(), csv_table(),   jsonl_table(), merge_table(),
      sample_table(), partition_table(), plan_table(),    run_table(),   gen_table(),   check_table(), power_table(),
      tune_table(),   joulesort_table(), cluster_table(), queue_table(), serve_table(), manual_table()};
  return tables;
}

}  // namespace ecosort::cli
