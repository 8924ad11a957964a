// The environment configures the C++ unit tests.
#pragma once

#include <cstdlib>
#include <string_view>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace ecosort {

// "" and "0" count as not set, as in tests/capabilities.py.
[[nodiscard]] inline bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): no test changes the environment
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

// A machine that lacks something is a failure then, not a skip.
[[nodiscard]] inline bool is_strict() { return is_set("ECOSORT_STRICT"); }

// Larger sweeps, which may take hours.
[[nodiscard]] inline bool is_soak() { return is_set("ECOSORT_SOAK"); }

// Another processor than this machine's runs the tests, in software.
[[nodiscard]] inline bool is_emulated() { return is_set("ECOSORT_EMULATOR"); }

// Everything may take so many times as long, because of a sanitizer.
#if defined(__SANITIZE_THREAD__)
inline constexpr unsigned slowness = 30;
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr unsigned slowness = 10;
#else
inline constexpr unsigned slowness = 1;
#endif

// While it lives, what this thread allocates may be left behind.
#ifdef __SANITIZE_ADDRESS__
using LeaksAreMeant = __lsan::ScopedDisabler;
#else
struct LeaksAreMeant {
  LeaksAreMeant() {}  // used for its scope
};
#endif

}  // namespace ecosort
