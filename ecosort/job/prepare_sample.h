// A sample of a range of a file: everything is checked and opened, nothing is created (promise P9).
#pragma once

#include <cstdint>
#include <string>

#include "engine/partition/sample.h"
#include "job/prepare_partition.h"
#include "job/prepare_records.h"

namespace ecosort::job {

struct SampleSpec {
  FileRange range;
  engine::partition::SampleTerms terms;
  std::string output;  // a file, or "-"
};

// Prepares that of the one input of `rows`. UsageError and its kinds for what cannot be.
[[nodiscard]] engine::partition::SampleRecordsJob prepare_sample_of_records(const SampleSpec& spec, const Request& rows,
                                                                            io::PosixStorage& storage);

// All rows of these samples of records, in order.
[[nodiscard]] SplitterFile merge_samples_of_records(const Request& rows);

}  // namespace ecosort::job
