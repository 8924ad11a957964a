// Rows of a range at random places: from them splitters are chosen, so that the parts between these are of about the same size.
//
// The range is cut into as many pieces of equal size as there are rows wanted, and one is drawn from each: never worse than as
// many independent draws, and exact where the range is in order already.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/bench.h"
#include "engine/fixed/read_ahead.h"
#include "engine/partition/splitter.h"
#include "io/reactor.h"

namespace ecosort::engine::partition {

struct SampleTerms {
  std::uint64_t count = 0;   // rows; less where the range has fewer
  std::uint64_t seed = 0;    // the same rows for the same seed, source and range, on every machine
  std::uint64_t source = 0;  // number of the file
};

struct Sample {
  std::vector<Splitter> rows;  // by their places
  io::Traffic traffic;
};

// One place from each of `count` pieces of [0, size), ascending; all places where there are no more.
[[nodiscard]] std::vector<std::uint64_t> random_places(std::uint64_t size, std::uint64_t count, std::uint64_t seed);

// Everything is checked and opened.
struct SampleRecordsJob {
  fixed::Input input;  // with the range that is wanted of it
  std::uint32_t record_size = 0;
  SampleTerms terms;
};
inline constexpr unsigned sample_read_depth = 32;
[[nodiscard]] std::uint64_t sample_memory_bytes(std::uint32_t record_size) noexcept;

// IoError, Interrupted, io::QueueBroken as sort() does. Reads the pages that the records are in, and
// small gaps between them.
[[nodiscard]] Sample sample_records(SampleRecordsJob& job, const Environment& environment);

}  // namespace ecosort::engine::partition
