// A sort of lines, of CSV or of JSON lines: everything resolved and checked, inputs open, nothing created. Messages about files
// are those of GNU sort.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ecosort/request.hpp"
#include "engine/rows/check_lines.h"
#include "engine/rows/lines_sort.h"
#include "formats/row_format.h"
#include "io/backends.h"
#include "io/posix_storage.h"
#include "job/space.h"
#include "planner/machine.h"

namespace ecosort::job {

inline constexpr std::uint64_t header_share = 16;  // of the memory; what stays on top lies there until the output is written

// `is_small`: an input of a few MB, which one thread sorts sooner than others are started.
struct PreparedLines {
  engine::rows::LinesJob job;
  bool is_small = false;
};

// A file is in the way, as sort says it: UsageError "WHAT: NAME: reason of the system".
[[noreturn]] void cannot(const char* what, const std::string& name, int error);

// An output that is no regular file, such as /dev/null or a FIFO: `redirected` makes the process's standard output lead there,
// and `job.output` is "-" then; with `unopened` it is "-" as well, for a job that is only planned; `refused` is a UsageError.
enum class SpecialOutput : std::uint8_t { redirected, unopened, refused };

[[nodiscard]] PreparedLines prepare_rows(const Request& request, io::Storage& storage, SpecialOutput special);

// A merge of the runs of jobs, which are request.inputs and described by `descriptions`; `format` knows the first row. `rest`
// goes out behind them.
[[nodiscard]] PreparedLines prepare_kept_rows(const Request& request, std::unique_ptr<formats::RowFormat> format,
                                              std::vector<run::Description> descriptions, engine::rows::RunContents kept,
                                              std::vector<engine::rows::RowsRest> rest, io::Storage& storage);

// Makes what prepare_rows() makes without looking at the space: for a plan. With `assumed_bytes`, of rows that are not there.
[[nodiscard]] engine::rows::LinesJob make_rows_job(const Request& request, io::Storage& storage, SpecialOutput special,
                                                   std::uint64_t assumed_bytes = 0);

// Returns what the job asks of drives, as far as one can know before the inputs are read, and what is free there: the output is
// as long as the input (with -u, shorter; with counts no one knows). UsageError for a directory of runs that cannot be used.
[[nodiscard]] std::vector<SpaceNeed> space_needs(const engine::rows::LinesJob& job, io::Storage& storage);
// Throws NoRoom where one of them has too little.
void check_space(const engine::rows::LinesJob& job, const std::vector<SpaceNeed>& needs);

// Lines in the order of -R: what decides their order is chosen now, unless the request has it.
void choose_salt(Request& request);

// Adds the names that are in a file, each ended by NUL; "": there is none. UsageError.
void add_named_inputs(const std::string& from, std::vector<std::string>& inputs);

// Looks at the order of the only input. UsageError, IoError.
[[nodiscard]] engine::OrderCheck check_rows(const Request& request, const engine::CheckTerms& terms,
                                            const engine::rows::FirstLook& look = {});

// Return the bytes of all inputs that are open and no streams; whether all are.
[[nodiscard]] std::uint64_t known_bytes(const std::vector<engine::rows::LineInput>& inputs);
[[nodiscard]] bool are_known(const std::vector<engine::rows::LineInput>& inputs);

[[nodiscard]] io::Backend make_row_queue(const std::string& name, const PreparedLines& prepared);

}  // namespace ecosort::job
