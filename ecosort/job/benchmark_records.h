// Finds out whether inputs look like what `ecosort gen` makes. Asked where nothing says what else the records are: text whose
// size happens to be a multiple of 100 would be torn line by line.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "base/errors.h"
#include "io/file.h"

namespace ecosort::job {

// The records are not what they must be where no one says what else they are.
struct UnlikelyRecords : UsageError {
  explicit UnlikelyRecords(const std::string& name);
  std::string name;  // of the input
};

// Looks at a few records at the begin, in the middle and at the end of a file. UnlikelyRecords, or UsageError for what is known
// to hold no records, such as an archive. An empty file passes, and what cannot be read.
void require_benchmark_records(const io::File& file);

// Looks at the first bytes of a stream of this name, when they are there.
[[nodiscard]] std::function<void(std::span<const std::byte>)> look_at_stream(std::string name);

}  // namespace ecosort::job
