#include "formats/records/index_sort.h"

#include <algorithm>

#include "formats/records/tie_refine.h"
#include "sorting/bucket_sort.h"
#include "sorting/parallel_parts.h"
#include "sorting/range_sort.h"

namespace ecosort::records {
namespace {

constexpr std::size_t large_group = std::size_t{1} << 16U;  // entries; a group worth all threads
constexpr std::size_t parts_per_thread = 8;

// The first place from `at` on where no group of equal keys is cut.
std::size_t group_border(const sorting::Entry* entries, std::size_t n, std::size_t at) {
  if (at == 0 || at == n) return at;
  return static_cast<std::size_t>(std::upper_bound(entries + at, entries + n, entries[at - 1], sorting::key_less) - entries);
}

}  // namespace

void sort_entries(sorting::Entry* entries, sorting::Entry* scratch, std::size_t n) {
  sort_entries_parallel(entries, scratch, n, 1);
}

void sort_entries_parallel(sorting::Entry* entries, sorting::Entry* scratch, std::size_t n, unsigned threads) {
  sorting::BucketWorkspace workspace;
  sorting::sort_range(entries, scratch, n, sorting::Target::same_array, workspace, threads);
}

void refine_ties(sorting::Entry* entries, sorting::Entry* scratch, std::size_t n, const Encoder& encoder,
                 const RecordTable& table) {
  refine_ties_parallel(entries, scratch, n, encoder, table, 1);
}

void refine_ties_parallel(sorting::Entry* entries, sorting::Entry* scratch, std::size_t n, const Encoder& encoder,
                          const RecordTable& table, unsigned threads) {
  if (encoder.decides()) return;
  const TieContext context{encoder, table, entries, scratch};
  const std::size_t parts = threads <= 1 ? 1 : parts_per_thread * threads;
  std::vector<std::size_t> borders(parts + 1);  // all before any group gets new prefixes
  for (std::size_t part = 0; part <= parts; ++part) borders[part] = group_border(entries, n, sorting::part_begin(n, parts, part));
  std::vector<std::vector<TiedGroup>> large(parts);
  sorting::for_each_part(threads, parts, [&](std::size_t part) {
    refine_range(context, borders[part], borders[part + 1], large_group, large[part]);
  });
  for (const auto& groups : large) {
    for (const TiedGroup& group : groups) refine_group(context, group, threads);
  }
}

}  // namespace ecosort::records
