// The files into which a command reports: checked before hours of work (promise P9).
#pragma once

#include <string>
#include <vector>

#include "cli/given_words.h"
#include "job/prepare_records.h"
#include "job/prepare_rows.h"
#include "job/written_files.h"

namespace ecosort::cli {

// Empty: not wanted.
struct ReportFiles {
  std::string stats, events, trace;
  std::string report{};  // of a partition
};

// No report takes the place of a file that an operand or another option names. UsageError.
void check_named_reports(const GivenWords& given);

// They can be written, and name neither an input nor what else is written nor each other. UsageError.
void check_report_files(const ReportFiles& files, const std::vector<engine::fixed::Input>& inputs,
                        const job::WrittenFiles& written);
// Knows nothing of inputs that are opened late.
void check_report_files(const ReportFiles& files, const std::vector<engine::rows::LineInput>& inputs,
                        const job::WrittenFiles& written);
// Takes the names of the inputs; "-" is the standard input.
void check_report_files(const ReportFiles& files, const std::vector<std::string>& inputs, const job::WrittenFiles& written);

}  // namespace ecosort::cli
