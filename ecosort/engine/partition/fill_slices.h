// Puts the slices of a run into the files of their parts: threads fill the blocks that there are, the coordinator brings more.
#pragma once

#include <cstddef>
#include <vector>

#include "base/task.h"
#include "engine/compute.h"
#include "engine/partition/slice_files.h"
#include "sorting/parallel_parts.h"

namespace ecosort::engine::partition {

// `fill(part)` puts what there is room for of a part's slice into its block, and returns whether that was all of it; threads call
// it, one at a time for each part. `rest`: the parts whose slices are not empty. Coordinator only.
template <class Fill>
Task<void> fill_slices(Compute& compute, SliceFiles& files, std::vector<std::size_t> rest, std::uint64_t least_room,
                       const Fill& fill) {
  constexpr std::size_t groups_per_thread = 4;
  std::vector<char> is_done;  // no vector<bool>: threads write it side by side
  while (!rest.empty()) {
    for (const std::size_t part : rest)
      if (files.room(part) < least_room) co_await files.make_room(part);
    is_done.assign(rest.size(), 0);
    auto work = compute.run([&] {
      const std::size_t groups = std::min<std::size_t>(rest.size(), groups_per_thread * compute.threads());
      sorting::for_each_part(compute.threads(), groups, [&](std::size_t group) {
        const std::size_t end = sorting::part_begin(rest.size(), groups, group + 1);
        for (std::size_t i = sorting::part_begin(rest.size(), groups, group); i < end; ++i) is_done[i] = fill(rest[i]) ? 1 : 0;
      });
    });
    co_await work;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < rest.size(); ++i)
      if (is_done[i] == 0) rest[kept++] = rest[i];
    rest.resize(kept);
  }
}

}  // namespace ecosort::engine::partition
