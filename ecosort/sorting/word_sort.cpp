#include "sorting/word_sort.h"

namespace ecosort::sorting {

WordSort word_sort_of(CpuLevel level) noexcept {
#if defined(__x86_64__)
  if (level >= CpuLevel::avx2) return {sort_words_avx2, SIZE_MAX};
#elif defined(__aarch64__)
  // Vectors of four words take as many instructions for each of 512 words as counting, 26, and half of them for 64.
  if (level == CpuLevel::neon) return {sort_words_neon, 512};
#endif
  static_cast<void>(level);
  return {};
}

}  // namespace ecosort::sorting
