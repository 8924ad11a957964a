// The options of every command that reads and writes compressed files.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/option_binding.h"
#include "cli/option_table.h"
#include "ecosort/ecosort.hpp"
#include "engine/rows/lines_sort.h"

namespace ecosort::cli {

// The words as they were given; until then, those that the command does without.
struct CompressionWords {
  std::string decompress, output, level, runs = "auto", assumed_ratio;

  void bind(OptionTargets& targets);
  [[nodiscard]] CompressionTerms terms() const;  // UsageError
};

// Of --compress and --assume-ratio.
[[nodiscard]] std::vector<OptionRow> run_compression_rows();

// Their rows in the table of a command, for which these words are the defaults.
[[nodiscard]] std::vector<OptionRow> compression_rows(std::string_view decompress, std::string_view output);

// For --stats: what was decompressed, and how runs and the output were compressed.
[[nodiscard]] nlohmann::ordered_json compression_json(const lines::LinesJob& job, const lines::LinesReport& report);

}  // namespace ecosort::cli
