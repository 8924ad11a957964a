// Finds once which instruction sets this run may use.
//
// The library is built for plain x86-64 or aarch64; kernels with faster variants hold them in files of their own
// (`*_avx2.cpp`, `*_avx512.cpp`, `*_neon.cpp`) and choose by cpu_level(). All variants of a kernel compute the same values.
#pragma once

#include <string_view>

namespace ecosort {

// A later level of x86-64 has all instructions of the ones before it, and takes their kernels where it has none of its own.
// Every 64-bit Arm processor has NEON: the baseline there, which has no vectors, is what others are compared with.
enum class CpuLevel { baseline, neon, avx2, avx512 };

// The levels of this architecture.
inline constexpr CpuLevel all_cpu_levels[] = {
    CpuLevel::baseline,
#if defined(__x86_64__)
    CpuLevel::avx2,
    CpuLevel::avx512,
#elif defined(__aarch64__)
    CpuLevel::neon,
#endif
};

// The best level that this machine and its kernel support.
CpuLevel detected_cpu_level() noexcept;

// The level in use: the detected one, or the one that the environment variable ECOSORT_CPU names. Throws UsageError
// when the variable holds anything else or a level that this machine lacks. The variable is read once. Thread-safe.
CpuLevel cpu_level();

// Returns whether the level in use has `pext`, and the processor takes few cycles for it. The first AMD processors that had it
// take some for each bit; they lack products of polynomials in vectors, which came with a fast one.
bool extracts_bits_fast();

std::string_view to_string(CpuLevel level) noexcept;

// "baseline" -> CpuLevel::baseline and so on; throws UsageError for anything else.
CpuLevel parse_cpu_level(std::string_view name);

}  // namespace ecosort
