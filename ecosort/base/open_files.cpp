#include "base/open_files.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <limits>

#include "base/errors.h"

namespace ecosort {

std::uint64_t open_files_allowed() noexcept {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : std::numeric_limits<std::int64_t>::max();
}

std::size_t open_files_share() noexcept { return std::max<std::uint64_t>(open_files_allowed() / 4, 2); }

void demand_open_files(const std::string& what, std::uint64_t files, const std::string& advice) {
  constexpr std::uint64_t others = 24;  // standard streams, inputs, reports, queue, directories
  const std::uint64_t most = open_files_allowed(), need = files + others;
  if (need <= most) return;
  rlimit limit{};
  const bool only_root_can = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max < need;
  throw UsageError(fmt::format("{} need {} open files, {} are allowed: raise that with ulimit -n {}{}{}", what, need, most, need,
                               only_root_can ? " as root" : "", advice.empty() ? "" : "; " + advice));
}

void raise_open_files() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace ecosort
