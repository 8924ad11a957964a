// Reads from a request how the output is split into several files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ecosort/request.hpp"
#include "engine/rows/split_sink.h"

namespace ecosort::job {

// Nothing: there is one output. UsageError for a split that cannot be. `memory_bytes` is that of the sort, of which it takes a
// part.
[[nodiscard]] std::optional<engine::rows::SplitJob> split_of(const Request& request, std::uint64_t memory_bytes);

// The names of the files, by the word of the split and the output, which has {} in its name. UsageError where it has not.
[[nodiscard]] engine::rows::SplitNames split_names_of(const std::string& word, const std::string& output);

}  // namespace ecosort::job
