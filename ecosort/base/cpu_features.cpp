#include "base/cpu_features.h"

#include <fmt/format.h>

#include <cstdlib>
#include <iterator>
#include <string>

#include "base/errors.h"

namespace ecosort {
namespace {

CpuLevel level_from_environment() {
  const char* name =
      std::getenv("ECOSORT_CPU");  // NOLINT(concurrency-mt-unsafe): read once, under the guard of cpu_level's static
  const CpuLevel detected = detected_cpu_level();
  if (name == nullptr || *name == '\0') return detected;
  const CpuLevel wanted = parse_cpu_level(name);
  if (wanted > detected) {
    throw UsageError(fmt::format("ECOSORT_CPU={}: this machine offers {} at most", name, to_string(detected)));
  }
  return wanted;
}

// "baseline, avx2 or avx512"
std::string level_names() {
  std::string names;
  const std::size_t count = std::size(all_cpu_levels);
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) names += i + 1 < count ? ", " : " or ";
    names += to_string(all_cpu_levels[i]);
  }
  return names;
}

}  // namespace

CpuLevel detected_cpu_level() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 =
      __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi2") != 0 && __builtin_cpu_supports("pclmul") != 0;
  if (!avx2) return CpuLevel::baseline;
  const bool avx512 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
                      __builtin_cpu_supports("avx512vbmi2") != 0 && __builtin_cpu_supports("vpclmulqdq") != 0;
  return avx512 ? CpuLevel::avx512 : CpuLevel::avx2;
#elif defined(__aarch64__)
  return CpuLevel::neon;
#else
  return CpuLevel::baseline;
#endif
}

CpuLevel cpu_level() {
  static const CpuLevel level = level_from_environment();
  return level;
}

std::string_view to_string(CpuLevel level) noexcept {
  switch (level) {
    case CpuLevel::baseline:
      return "baseline";
    case CpuLevel::neon:
      return "neon";
    case CpuLevel::avx2:
      return "avx2";
    case CpuLevel::avx512:
      return "avx512";
  }
  return "unknown";
}

CpuLevel parse_cpu_level(std::string_view name) {
  for (const CpuLevel level : all_cpu_levels) {
    if (to_string(level) == name) return level;
  }
  throw UsageError(fmt::format("ECOSORT_CPU={}: give {}", name, level_names()));
}

}  // namespace ecosort
