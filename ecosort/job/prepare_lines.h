// A sort of lines: everything resolved and checked, inputs open, nothing created. Messages are those of GNU sort.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ecosort/ecosort.hpp"
#include "engine/rows/check_lines.h"
#include "engine/rows/lines_sort.h"
#include "formats/lines/grammar.h"
#include "io/backends.h"
#include "io/posix_storage.h"

namespace ecosort::job {

inline constexpr std::uint64_t header_share = 16;  // of the memory; what --header keeps lies there until the output is written

// `is_small`: an input of a few MB, which one thread sorts sooner than others are started.
struct PreparedLines {
  lines::LinesJob job;
  bool is_small = false;
};

// A file is in the way, as sort says it: UsageError "WHAT: NAME: reason of the system".
[[noreturn]] void cannot(const char* what, const std::string& name, int error);

// An output that is no regular file, such as /dev/null or a FIFO: `redirected` makes the process's standard output lead there,
// and `job.output` is "-" then; `refused` is a UsageError.
enum class SpecialOutput : std::uint8_t { redirected, refused };

[[nodiscard]] PreparedLines prepare_lines(const lines::LinesOptions& options, io::Storage& storage, SpecialOutput special);

// The same for rows of another format, whose inputs begin with what stays on top or not. Of the options, what they say about
// files and means counts.
[[nodiscard]] PreparedLines prepare_rows(const lines::LinesOptions& options, std::unique_ptr<rows::RowFormat> format,
                                         bool has_top, io::Storage& storage, SpecialOutput special);

// A merge of the runs of jobs, which are options.inputs and described by `descriptions`; `format` knows the first row.
[[nodiscard]] PreparedLines prepare_kept_rows(const lines::LinesOptions& options, std::unique_ptr<rows::RowFormat> format,
                                              std::vector<run::Description> descriptions, lines::RunContents kept,
                                              io::Storage& storage);

// The same without looking at the space: for a plan. With `assumed_bytes`, of lines that are not there.
[[nodiscard]] lines::LinesJob make_lines_job(const lines::LinesOptions& options, io::Storage& storage, SpecialOutput special,
                                             std::uint64_t assumed_bytes = 0);

[[nodiscard]] lines::LinesJob make_rows_job(const lines::LinesOptions& options, std::unique_ptr<rows::RowFormat> format,
                                            bool has_top, io::Storage& storage, SpecialOutput special,
                                            std::uint64_t assumed_bytes);

// What a spec says in the words of GNU sort. UsageError.
[[nodiscard]] lines::LinesOptions line_options_of(const SortSpec& spec);

// Adds the inputs that a file names, separated by NUL, where the options say so. UsageError.
void read_file_names(lines::LinesOptions& options);

// The keys of -R: 16 bytes that decide all of its order.
void choose_salt(lines::LinesOptions& options);

// -S is a wish, as for sort: what is too little or more than there is becomes the nearest that can be. --memory is held to, or
// refused.
[[nodiscard]] std::uint64_t line_memory_of(const lines::LinesOptions& options);

// The first row of the only input that is out of order; with options.unique, also one that is equal to the one before it.
// UsageError, IoError.
[[nodiscard]] std::optional<lines::Disorder> find_row_disorder(const lines::LinesOptions& options, rows::RowFormat& format,
                                                               const lines::FirstLook& look = {});

// Of all inputs that are open and no streams; whether all are.
[[nodiscard]] std::uint64_t known_bytes(const std::vector<lines::LineInput>& inputs);
[[nodiscard]] bool are_known(const std::vector<lines::LineInput>& inputs);

[[nodiscard]] io::Backend make_line_queue(const std::string& name, const PreparedLines& prepared);

}  // namespace ecosort::job
