// The signals of writes that cannot be: a closed pipe (SIGPIPE), a file beyond `ulimit -f` (SIGXFSZ).
#pragma once

#include "base/errors.h"

namespace ecosort::cli {

// Writes then fail like any other, so that what was begun is taken back.
void ignore_write_signals();

// Ends the process silently by SIGPIPE, which a shell shows as 141, if `error` is that the reader of standard output is gone, as
// with `| head`. It returns where another error is to be reported, or where the caller of this program ignores SIGPIPE.
void end_if_no_one_reads(const Error& error) noexcept;

}  // namespace ecosort::cli
