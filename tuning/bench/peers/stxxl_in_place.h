// stxxl::sort and ksort work in place. To keep the input, as every other contender does, it is copied to the output first, with
// STXXL's own overlapped streams. The seconds of both parts go to standard error.
#pragma once

#include <stxxl/stream>
#include <stxxl/timer>

#include "peers/stxxl_records.h"

namespace peers {

inline void copy_input(const Arguments& arguments, Vector& output) {
  const auto file = open_input(arguments);
  const Vector input(file.get());
  auto stream = stxxl::stream::streamify(input.begin(), input.end(), stream_blocks);
  stxxl::stream::materialize(stream, output.begin(), output.end(), stream_blocks);
}

template <class Sort>
void copy_and_sort(const Arguments& arguments, Sort sort) {
  const double begin = stxxl::timestamp();
  const auto file = create_output(arguments);
  file->set_size(open_input(arguments)->size());
  Vector records(file.get());
  copy_input(arguments, records);
  const double copied = stxxl::timestamp();
  sort(records, arguments.memory_bytes - vector_cache_bytes);
  records.flush();
  std::fprintf(stderr, "copy_s %.3f sort_s %.3f\n", copied - begin, stxxl::timestamp() - copied);
}

}  // namespace peers
