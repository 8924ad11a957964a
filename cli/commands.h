// The subcommands of `ecosort`. Each takes the words after its name and returns the process exit code; errors are thrown
// (base/errors.h) and turned into a line and a code by `main`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ecosort::cli {

using Words = std::vector<std::string>;

// Commands whose words make a request: sort, inplace, csv, jsonl, shuffle.
int run_typed(std::string_view command, const Words& words);
int run_gen(const Words& words);        // gensort-compatible generator; exit codes 0 and 1
int run_check(const Words& words);      // valsort-compatible validator; exit codes 0 and 1
bool names_format(const Words& words);  // the first of these words of `check` says what the rows are
int check_order(const Words& words);    // of rows of that format, by any keys
int run_resume(const Words& words);     // continues with an interrupted one, or an interrupted resumable sort
int run_lines(const Words& words);      // text lines with the grammar of GNU sort; exit codes 0, 1 and 2
int run_parquet(const Words& words);    // becomes the program ecosort-parquet
// Becomes it, too, to check whether these files are in the order that they claim.
int check_parquet(const Words& files, bool quiet);
int run_remote(const Words& words);     // becomes the program ecosort-remote; returns only by throwing
int run_merge(const Words& words);      // sorted files into one
int merge_lines(const Words& words);    // of text lines; exit codes 0, 1 and 2
int run_sample(const Words& words);     // rows of a range, and splitters
int run_partition(const Words& words);  // a range into slices
int run_plan(const Words& words);       // prints what such a command would do
int plan_partition(const Words& words);
int run_request(const Words& words);    // what a request in JSON says
int print_request(const Words& words);  // the request that the words of a command make
int run_power(const Words& words);      // becomes the program ecosort-power; returns only by throwing
int run_tune(const Words& words);       // becomes the program ecosort-tune; returns only by throwing
int run_cluster(const Words& words);    // becomes the program ecosort-cluster; returns only by throwing
int run_joulesort(const Words& words);  // becomes `ecosort-power joulesort`; returns only by throwing
int run_queue(const Words& words);      // becomes `ecosort-appliance queue`; returns only by throwing
int run_serve(const Words& words);      // becomes `ecosort-appliance serve`; returns only by throwing
int run_manual(const Words& words);     // man pages, shell completions and options as JSON, on standard output

}  // namespace ecosort::cli
