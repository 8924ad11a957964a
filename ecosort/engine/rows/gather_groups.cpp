#include "engine/rows/gather_groups.h"

#include <algorithm>
#include <cstring>

#include "base/errors.h"
#include "formats/lines/index_lines.h"

namespace ecosort::engine::rows {

GatherGroups::GatherGroups(const lines::LineRun& run, const formats::RowFormat& format, const GroupPolicy& policy)
    : run_(run), format_(format), keeps_last_(policy.keeps_last), group_(format, policy), out_(lines::line_kernels()) {}

bool GatherGroups::finished() const noexcept {
  return header_.empty() && next_ == run_.count && !has_group_ && group_.bytes_left() == 0;
}

// Returns whether the entry is of the group that has begun. Every pair of neighbours is compared (promise P1).
bool GatherGroups::goes_on(const sorting::Entry& entry) const {
  const sorting::Entry& before = run_.entries()[next_ - 1];
  const int order = lines::compare_entries(run_, format_, before, entry);
  if (order > 0)
    throw VerificationError("verification failed: the sorted lines would not be in order; the output was not written");
  return order == 0 || (!format_.groups_by_all() && format_.are_grouped(order, run_.line(before), run_.line(entry)));
}

void GatherGroups::take(const sorting::Entry& entry) {
  const Text row = run_.line(entry);
  longest_ = std::max(longest_, row.size() + 1);
  if (has_group_) {
    group_.add_row();
    lines::add_line(dropped_, keeps_last_ ? run_.line(run_.entries()[kept_]) : row);
  } else {
    group_.begin();
  }
  if (!has_group_ || keeps_last_) kept_ = next_;
  has_group_ = true;
  ++next_;
}

void GatherGroups::end_group() {
  const Text row = run_.line(run_.entries()[kept_]);
  if (!group_.end(row)) lines::add_line(dropped_, row);
  has_group_ = false;
}

GatherGroups::Filled GatherGroups::fill(char* to, std::size_t capacity) {
  std::size_t filled = std::min(header_.size(), capacity);
  if (filled > 0) std::memcpy(to, header_.data(), filled);
  header_.remove_prefix(filled);
  const std::size_t carried = std::min(filled + group_.bytes_left(), capacity);
  while (group_.put(to, capacity, filled, out_) && (next_ < run_.count || has_group_)) {
    const bool ends = has_group_ && (next_ == run_.count || !goes_on(run_.entries()[next_]));
    if (ends)
      end_group();
    else
      take(run_.entries()[next_]);
  }
  out_.settle();
  return {filled, carried};
}

}  // namespace ecosort::engine::rows
