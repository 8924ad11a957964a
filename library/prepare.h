// From a request of a program that called the library to work that can be run: checked, opened and planned.
#pragma once

#include <functional>
#include <string>

#include "base/errors.h"
#include "ecosort/ecosort.hpp"
#include "io/backends.h"
#include "io/posix_storage.h"
#include "job/benchmark_records.h"
#include "job/prepare_rows.h"
#include "library/run.h"

namespace ecosort::library {

// UsageError for a request that lacks something, or has what no sort can do.
void check_complete(const Request& request);

[[nodiscard]] job::PreparedLines prepare_rows(Request request, io::Storage& storage);

struct Prepared {
  Work work;
  std::function<io::Backend()> open_queue;  // called by the thread that does the work
};

// A sort in one go. Errors as those of job/.
[[nodiscard]] Prepared prepare(const Request& request, io::PosixStorage& storage);

// Does `work`, and adds to its errors what to do about them in the words of the library. A stream shows what it is only when its
// first block comes.
template <class Work>
auto in_words_of_the_library(const Work& work) {
  try {
    return work();
  } catch (const job::UnlikelyRecords& unlikely) {
    throw UsageError(std::string(unlikely.what()) + "; set record_size and keys for other records, or format for lines of text");
  }
}

}  // namespace ecosort::library
