// The words of `sample` and `partition`: first the format, then their own options among those of the command that sorts the
// format.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/option_binding.h"
#include "cli/sort_options.h"
#include "job/prepare_partition.h"
#include "job/prepare_rows_range.h"

namespace ecosort::cli {

struct NodeWords {
  ecosort::Format format = ecosort::Format::records;
  Words others;        // for the command that sorts the format
  ParsedWords parsed;  // of our own
  bool asks_for_help = false;
};

// `targets`: of the options of the command's table that are its own; the table has others to be read, too, which go to the
// command of the format. UsageError.
[[nodiscard]] NodeWords split_node_words(std::string_view command, const Words& words, const OptionTargets& targets);

// Options of `ecosort sort` that say what records are, how they are ordered and with which means; others are refused.
[[nodiscard]] SortOptions parse_record_words(std::string_view command, const Words& words);

// What the words of `ecosort lines`, `csv` and `jsonl` say about rows, and where they come from and go.
struct RowWordsOptions {
  std::unique_ptr<rows::RowFormat> format;
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

// --from and --to.
struct RangeWords {
  std::uint64_t from = 0, to = 0;
  [[nodiscard]] job::ByteRange range(const ParsedWords& parsed) const;
};

}  // namespace ecosort::cli
