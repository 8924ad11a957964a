// A job that was resumed found this of its output.
#pragma once

#include <cstdint>

namespace ecosort::engine {

// Records or lines of the output that a run before had written, and whether they were read again and compared with the journal's
// sums.
struct Resumed {
  std::uint64_t records = 0;
  bool is_checked = false;
};

}  // namespace ecosort::engine
