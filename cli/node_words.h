// The words of `sample` and `partition`: first the format, then their own options among those of the command that sorts the
// format; or a request that says the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "cli/sorts.h"
#include "job/prepare_partition.h"
#include "job/prepare_rows_range.h"

namespace ecosort::cli {

struct NodeWords {
  GivenWords own{};    // of the command itself: options of its table that `sort` does not have
  CommandLine line{};  // the rows, the input, the output and the means are in its request

  [[nodiscard]] ecosort::Format format() const { return line.request.format(); }
  // --from and --to.
  [[nodiscard]] job::FileRange range() const;
};

// Reads a format and the words of the command that sorts it, or `request` and the name of one. Refuses what means nothing for one
// range. UsageError.
[[nodiscard]] NodeWords read_node_words(std::string_view command, const Words& words);

// Returns what a request of rows says about them. UsageError for rows that compare by chance, and where no output is named.
[[nodiscard]] job::RowTerms row_terms_of(std::string_view command, const CommandLine& line);

// Both commands take one file at a time.
void check_one_input(std::string_view command, const std::vector<std::string>& inputs);

}  // namespace ecosort::cli
