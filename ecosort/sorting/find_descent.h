// Finds where a sequence stops ascending. Pure computation, inside the thread pool.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sorting/parallel_parts.h"

namespace ecosort::sorting {

// The first place in [from, end) whose element comes before the one in front of it, or `end`; `ascends(i)` says whether that of
// place i does not. The first few places are looked at before threads share the others: where there is no order, it costs
// nothing.
template <class Ascends>
[[nodiscard]] std::size_t find_descent(std::size_t from, std::size_t end, unsigned threads, const Ascends& ascends) {
  constexpr std::size_t few_places = 64, least_part = 4096;
  const auto find = [&](std::size_t at, std::size_t until) {
    while (at < until && ascends(at)) ++at;
    return at;
  };
  const std::size_t few = std::min(end, from + few_places);
  from = find(from, few);
  if (from < few || from >= end) return from;
  const std::size_t parts = std::clamp<std::size_t>((end - from) / least_part, 1, threads);
  std::vector<std::size_t> found(parts), ends(parts);
  for_each_part(threads, parts, [&](std::size_t i) {
    ends[i] = from + part_begin(end - from, parts, i + 1);
    found[i] = find(from + part_begin(end - from, parts, i), ends[i]);
  });
  for (std::size_t i = 0; i < parts; ++i)
    if (found[i] < ends[i]) return found[i];
  return end;
}

}  // namespace ecosort::sorting
