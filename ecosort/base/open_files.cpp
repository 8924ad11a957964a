#include "base/open_files.h"

#include <sys/resource.h>

#include <limits>

namespace ecosort {

std::uint64_t raise_open_files() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::numeric_limits<std::int64_t>::max();
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

}  // namespace ecosort
