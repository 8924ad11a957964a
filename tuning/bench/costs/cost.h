// Measures named amounts of CPU seconds per 10^9 bytes of records or rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

namespace ecosort::bench {

using Costs = std::vector<std::pair<std::string, double>>;

// The records have 100 bytes.
[[nodiscard]] Costs verification_costs();
[[nodiscard]] Costs kernel_costs(unsigned runs);
// Measures blocks of this size, out of memory.
[[nodiscard]] double verify_cost(std::size_t block_bytes);
// Measures rows. To hash them is a part of the kernels, which have them at hand.
[[nodiscard]] Costs row_verification_costs();
[[nodiscard]] Costs text_kernel_costs(unsigned runs);
[[nodiscard]] Costs number_kernel_costs(unsigned runs);

inline constexpr std::uint32_t record_size = 100;
inline constexpr std::size_t run_block_bytes = 65'536;
inline constexpr double gigabyte = 1e9;

[[nodiscard]] inline double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Seconds per gigabyte of a call that looks at `bytes` bytes; at least a fifth of a gigabyte is looked at. `prepare` comes before
// every call and is not counted.
template <class Prepare, class Call>
[[nodiscard]] double cost(std::size_t bytes, Prepare prepare, Call call) {
  const auto rounds = static_cast<std::size_t>(gigabyte / 5 / static_cast<double>(bytes)) + 1;
  double seconds = 0;
  for (std::size_t i = 0; i <= rounds; ++i) {
    prepare();
    const double begin = cpu_seconds();
    call();
    if (i > 0) seconds += cpu_seconds() - begin;  // the first one warms up
  }
  return seconds / (static_cast<double>(bytes) * static_cast<double>(rounds)) * gigabyte;
}

template <class Call>
[[nodiscard]] double cost(std::size_t bytes, Call call) {
  const auto rounds = static_cast<std::size_t>(gigabyte / 5 / static_cast<double>(bytes)) + 1;
  return cost(
      bytes * rounds, [] {},
      [&] {
        for (std::size_t i = 0; i < rounds; ++i) call();
      });
}

inline void keep(std::uint64_t value) {  // so that no call is optimised away
  [[maybe_unused]] static volatile std::uint64_t sink;
  sink = value;
}

}  // namespace ecosort::bench
