// The run files of a job describe themselves so (run/description.h), from what the job knows of them.
#pragma once

#include <cstdint>

#include "demsort_inplace/job_records.h"
#include "demsort_inplace/line_runs.h"
#include "formats/row_format.h"
#include "run/description.h"

namespace ecosort::demsort_inplace {

// Room in front of the blocks of each run, in whole units, of records with the keys that the layout keeps there. UsageError for
// keys that are too long for any.
[[nodiscard]] std::uint64_t head_bytes(const records::RecordFormat& format, const Layout& layout);
[[nodiscard]] std::uint64_t head_bytes(const LineTerms& terms, const formats::RowFormat& format, std::uint64_t unit);

// A run that is complete, of fixed records.
[[nodiscard]] run::Description describe(const JobHeader& header, std::uint64_t run, const hash::MultisetHash& hash);

// Describes a job of rows.
struct RowJob {
  const JobHeader& header;
  const formats::RowFormat& format;
  bool is_unique = false, has_header_run = false;
};
[[nodiscard]] run::Description describe(const RowJob& job, const RunDone& run, const RunPlace& place);

}  // namespace ecosort::demsort_inplace
