#include "base/cpu_features.h"

#include <fmt/format.h>

#include <cstdlib>
#include <iterator>
#include <string>

#include "base/errors.h"

#if defined(__x86_64__) && !defined(__clang__) && __has_include(<sys/platform/x86.h>)  // clang lacks the _Bool that it uses
#include <sys/platform/x86.h>
#endif

// The loader has asked the processor already. To ask again, as the compiler's function does, traps to the host of a virtual
// machine (3 % of the samples of a sort of 1 kB), and that function does so at the start of every program that names it.
#if defined(CPU_FEATURE_ACTIVE)
#define ECOSORT_HAS(loader_name, compiler_name) CPU_FEATURE_ACTIVE(loader_name)
#elif defined(__x86_64__)
#define ECOSORT_HAS(loader_name, compiler_name) (__builtin_cpu_supports(compiler_name) != 0)
#endif

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
  if (!(ECOSORT_HAS(AVX2, "avx2") && ECOSORT_HAS(BMI2, "bmi2") && ECOSORT_HAS(PCLMULQDQ, "pclmul"))) return CpuLevel::baseline;
  const bool avx512 = ECOSORT_HAS(AVX512F, "avx512f") && ECOSORT_HAS(AVX512BW, "avx512bw") && ECOSORT_HAS(AVX512DQ, "avx512dq") &&
                      ECOSORT_HAS(AVX512VL, "avx512vl") && ECOSORT_HAS(AVX512_VBMI2, "avx512vbmi2") &&
                      ECOSORT_HAS(VPCLMULQDQ, "vpclmulqdq");
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

bool extracts_bits_fast() {
#if defined(__x86_64__)
  return cpu_level() >= CpuLevel::avx2 && ECOSORT_HAS(VPCLMULQDQ, "vpclmulqdq");
#else
  return false;
#endif
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
