// Calls for every part of a range, on one thread or on the thread pool of the caller.
#pragma once

#include <cstddef>
#include <functional>

#include "base/thread_pool.h"

namespace ecosort::sorting {

// part(i) for i in 0..parts), in order on the calling thread when threads <= 1, else shared with its thread pool.
template <class Part>
void for_each_part(unsigned threads, std::size_t parts, const Part& part) {
  ThreadPool::for_each_part(threads, parts, std::cref(part));
}

// The first element of part i when n elements are cut into `parts` parts of about the same size.
inline std::size_t part_begin(std::size_t n, std::size_t parts, std::size_t i) { return n / parts * i + (n % parts) * i / parts; }

}  // namespace ecosort::sorting
