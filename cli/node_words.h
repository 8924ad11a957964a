// The words of `sample` and `partition`: first the format, then their own options among those of the command that sorts the
// format.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "cli/sorts.h"
#include "job/prepare_partition.h"
#include "job/prepare_rows_range.h"

namespace ecosort::cli {

struct NodeWords {
  ecosort::Format format = ecosort::Format::records;
  Words others;    // for the command that sorts the format
  GivenWords own;  // of the command itself: options of its table that `sort` does not have

  // --from and --to.
  [[nodiscard]] job::FileRange range() const;
};

// UsageError.
[[nodiscard]] NodeWords split_node_words(std::string_view command, const Words& words);

// Options of `ecosort sort` that say what records are, how they are ordered and with which means; others are refused.
[[nodiscard]] CommandLine parse_record_words(std::string_view command, const Words& words);

// The words of `ecosort lines`, `csv` and `jsonl` say this about rows, and where they come from and go.
struct RowWordsOptions {
  std::unique_ptr<formats::RowFormat> format;
  std::vector<std::string> inputs;
  std::string output, io;
  RunReports reports;
  std::uint64_t memory_bytes = 0;
  unsigned threads = 1;

  [[nodiscard]] job::RowTerms terms();  // of the one input; once
};
// Words that mean nothing for one range are refused. UsageError.
[[nodiscard]] RowWordsOptions parse_row_words(std::string_view command, const NodeWords& words);

// Both commands take one file at a time.
void check_one_input(std::string_view command, const std::vector<std::string>& inputs);

}  // namespace ecosort::cli
