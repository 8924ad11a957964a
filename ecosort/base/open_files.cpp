#include "base/open_files.h"

#include <sys/resource.h>

#include <limits>

namespace ecosort {

std::uint64_t open_files_allowed() noexcept {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : std::numeric_limits<std::int64_t>::max();
}

void raise_open_files() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace ecosort
