// The loops over the bytes of lines, a variant of each for every instruction set. All variants give the same values.
//
// They avoid branches that no one can predict: the end of a line of 60 to 140 bytes is found, and the line copied or hashed,
// without one. The C library's memchr and memcpy decide by the length, which costs more than the bytes do.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cpu_features.h"
#include "sorting/entry.h"

namespace ecosort::lines {

// Two hashes of one line. Each is NH, the universal hash of UMAC, over its 8-byte words with the keys of hash/multiset_hash.h,
// then mixed with its length: two given lines agree in both with probability <= 2^-64 if the keys are drawn at random.
struct LineHash {
  std::uint64_t low = 0, high = 0;
};

// A line without its end.
struct LinePlace {
  const char* begin = nullptr;
  std::size_t size = 0;
};

// Bytes at a time that split() takes, and that gather() reads and writes at a time.
inline constexpr std::size_t split_bytes = std::size_t{8} * 1024, split_room = split_bytes + 16;
inline constexpr std::size_t copy_step = 128, short_copy_step = 32;
inline constexpr std::size_t line_slack_bytes = copy_step;

// Lines of `text` in the order of the entries in [next, end), and where to put them.
struct GatherTask {
  const char* text = nullptr;
  const sorting::Entry* next = nullptr;
  const sorting::Entry* end = nullptr;
  char* to = nullptr;
  std::size_t room = 0;
  char terminator = '\n';
  char quote = '"';  // of rows with quotes
};
inline constexpr std::size_t gathered_lines = 32;  // at most, at a time

// Thread-safe.
struct LineKernels {
  // Counts `terminator` in the text.
  std::size_t (*count)(const char* text, std::size_t size, char terminator) noexcept;

  // Finds `terminator` there, as offsets in ascending order; returns how many. size <= split_bytes; `offsets` has room for
  // split_room of them, more than there are.
  std::size_t (*split)(const char* text, std::size_t size, char terminator, std::uint32_t* offsets) noexcept;

  // Its first place in [at, end); null if it is not there.
  const char* (*find)(const char* at, const char* end, char terminator) noexcept;

  // Copies the first of the lines, one behind the other, and enters the length of each with its end into `sizes`; returns how
  // many they are: gathered_lines, or less where the lines end or one may not fit in the room. Reads and writes whole steps, up
  // to copy_step bytes at a time: a line has line_slack_bytes behind its end. Lines further on are prefetched. All give the same
  // for all lines; gather_middle is for those most of which have at most 64 bytes, gather_short for those with short_copy_step.
  std::size_t (*gather)(const GatherTask& task, std::uint32_t* sizes) noexcept;
  std::size_t (*gather_middle)(const GatherTask& task, std::uint32_t* sizes) noexcept;
  std::size_t (*gather_short)(const GatherTask& task, std::uint32_t* sizes) noexcept;

  // Copies lines with a head in front of each: its entry, with the length of the line with its end in place of `index`. The sizes
  // are those of both together.
  std::size_t (*gather_with_heads)(const GatherTask& task, std::uint32_t* sizes) noexcept;
  std::size_t (*gather_middle_with_heads)(const GatherTask& task, std::uint32_t* sizes) noexcept;

  // Hashes a line without its end.
  LineHash (*hash)(const char* line, std::size_t size) noexcept;

  // The sum of the hashes of some lines.
  LineHash (*sum)(const LinePlace* lines, std::size_t count) noexcept;
};

// Returns the kernels of cpu_level().
[[nodiscard]] const LineKernels& line_kernels();

// Returns the kernels of one level, for tests; it must not exceed detected_cpu_level().
[[nodiscard]] const LineKernels& line_kernels_of(CpuLevel level) noexcept;

extern const LineKernels line_kernels_baseline, line_kernels_avx2, line_kernels_avx512, line_kernels_neon;

}  // namespace ecosort::lines
