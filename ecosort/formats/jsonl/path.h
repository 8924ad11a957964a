// Paths to a value within a line of JSON: user.tags[0]."a.b"
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/text.h"

namespace ecosort::jsonl {

// Into an object by a name, or into an array by a place from 0 on.
struct PathStep {
  bool is_place = false;
  std::size_t place = 0;
  std::string name;
};

struct Path {
  std::string text;  // as it was given
  std::vector<PathStep> steps;
};

// Parses names with dots between them; [N] behind a name or at the beginning. A name in double quotes may hold any bytes: \" and
// \\ stand for a quote and a backslash. UsageError for what is no path.
[[nodiscard]] Path parse_path(Text text);

}  // namespace ecosort::jsonl
