// Writes what ended the run as a line of JSON on standard error, for programs that asked for --progress=json; of `plan ...
// --json` as a document on standard output, in place of the plan. The line for people follows.
#pragma once

#include <exception>

#include "cli/commands.h"

namespace ecosort::cli {

// {"schema":"ecosort.error/1","kind":...,"message":...}: kinds and numbers as in errors.hpp. `words` are those of the command
// line, which may be wrong ones: without --progress=json among them, or plan and --json, nothing is written.
void say_error_json(const Words& words, const std::exception& error) noexcept;

}  // namespace ecosort::cli
