// `ecosort sort --resumable` and `ecosort plan sort --resumable`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/sorts.h"
#include "demsort_inplace/prepare/resumable.h"
#include "job/session.h"

namespace ecosort::cli {

// Nothing, or false: there is no record to sort, so that there is nothing to resume either; an ordinary sort does it.
[[nodiscard]] std::optional<int> run_resumable(const CommandLine& line, job::Session& session, double started_s);
[[nodiscard]] bool plan_resumable(const CommandLine& line, io::PosixStorage& storage);

// As people read it, and as a program does.
[[nodiscard]] std::string resumable_plan_text(const CommandLine& line, const inplace::PreparedResumable& prepared);
[[nodiscard]] std::string resumable_plan_json(const CommandLine& line, const inplace::PreparedResumable& prepared);

}  // namespace ecosort::cli
