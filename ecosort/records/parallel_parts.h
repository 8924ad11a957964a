// Calls for every part of a range, on one thread or on the TBB arena of the caller.
#pragma once

#include <tbb/parallel_for.h>

#include <cstddef>

#include "base/hand_over.h"

namespace ecosort::records {

// part(i) for i in 0..parts), in order on the calling thread when threads <= 1, else as TBB tasks.
template <class Part>
void for_each_part(unsigned threads, std::size_t parts, const Part& part) {
  if (threads <= 1 || parts <= 1) {
    for (std::size_t i = 0; i < parts; ++i) part(i);
    return;
  }
  HandOver fork, join;
  fork.give();
  tbb::parallel_for(
      std::size_t{0}, parts,
      [&](std::size_t i) {
        fork.take();
        part(i);
        join.give();
      },
      tbb::simple_partitioner{});
  join.take();
}

// The first element of part i when n elements are cut into `parts` parts of about the same size.
inline std::size_t part_begin(std::size_t n, std::size_t parts, std::size_t i) { return n / parts * i + (n % parts) * i / parts; }

}  // namespace ecosort::records
