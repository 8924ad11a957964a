// Space of an output that is allocated a little ahead of the writes, so that these need not allocate it: past the page cache ext4
// and XFS write at once into space that is allocated and inside the file's size. What allocates is done by a thread of the
// kernel, one at a time.
//
//   output | written ....... | on its way ... | allocated ......... |  nothing yet  | end
//                                             ^ at      1 to 2 steps ^ taken
#pragma once

#include <cstdint>

#include "base/task.h"
#include "engine/bench.h"
#include "io/file.h"

namespace ecosort::engine::rows {

// Bytes [begin, end) of the lines of a run, as it counts them: whole lines.
struct ByteRange {
  std::uint64_t begin = 0, end = 0;

  [[nodiscard]] std::uint64_t size() const noexcept { return end - begin; }
};

// Takes the space of one part of an output, whose writes follow each other. Coordinator only; must outlive the tasks that it
// spawns.
class SpaceAhead {
 public:
  // `total`: bytes of the whole output. Nothing is taken for parts of some MB.
  SpaceAhead(Bench& bench, const io::File& file, const ByteRange& part, std::uint64_t total);

  // The next write begins at `at`.
  void reach(std::uint64_t at, TaskGroup& tasks);
  // Returns whether the file may be longer than what was written.
  [[nodiscard]] bool has_taken() const noexcept { return has_taken_; }

 private:
  static constexpr std::uint64_t step = std::uint64_t{8} << 20U;

  [[nodiscard]] bool has_room() const;
  Task<void> take(std::uint64_t from, std::uint64_t size);

  Bench& bench_;
  const io::File& file_;
  std::uint64_t taken_, end_, total_;
  bool can_take_, has_taken_ = false;
};

}  // namespace ecosort::engine::rows
