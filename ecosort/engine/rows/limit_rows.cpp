#include "engine/rows/limit_rows.h"

#include <algorithm>
#include <cstring>

#include "formats/lines/index_lines.h"

namespace ecosort::engine::rows {
namespace {

using lines::LineRun;
using sorting::Entry;

// Moves the rows to the front of the buffer in the order in which they came, which is that of their places.
void move_to_front(LineRun& run) {
  Entry* const entries = run.entries();
  std::sort(entries, entries + run.count, [](const Entry& a, const Entry& b) { return a.index > b.index; });
  std::size_t end = 0;
  for (Entry* entry = run.top(); entry-- > entries;) {
    const Text row = run.line(*entry);
    std::memmove(run.bytes() + end, row.data(), row.size() + 1);
    entry->index = static_cast<std::uint32_t>(end);
    end += row.size() + 1;
  }
  run.kept_bytes = end;
}

}  // namespace

hash::MultisetHash LimitRows::beyond() const {
  const std::scoped_lock lock(mutex_);
  return beyond_;
}

hash::MultisetHash LimitRows::repeated() const {
  const std::scoped_lock lock(mutex_);
  return repeated_;
}

void LimitRows::add_beyond(const hash::MultisetHash& rows) {
  const std::scoped_lock lock(mutex_);
  beyond_ += rows;
}

void LimitRows::sort(LineRun& run, std::vector<lines::GroupCut>* cuts) {
  hash::MultisetHash repeated;
  lines::sort_index(run, format_, threads_);
  lines::drop_equal(run, format_, groups_.kept_in_runs(), repeated, cuts);
  const std::scoped_lock lock(mutex_);
  repeated_ += repeated;
}

// The entries of rows as they came are made downwards.
void LimitRows::turn_round(LineRun& run) { std::reverse(run.entries(), run.entries() + run.count); }

bool LimitRows::leaves_room(LineRun& run, std::size_t most_quarters) {
  if (run.line_bytes + run.count * lines::index_bytes_per_line > run.size() / 4 * most_quarters) return false;
  move_to_front(run);
  return true;
}

}  // namespace ecosort::engine::rows
