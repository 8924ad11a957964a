#include "formats/lines/duplicate_filter.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace ecosort::lines {
namespace {

constexpr std::uint64_t trial = 1U << 16U;  // lines after which the set must have found something
constexpr std::uint64_t least_share = 16;   // one in so many: a look costs about a tenth of what sorting a line does

}  // namespace

DuplicateFilter::DuplicateFilter(std::byte* memory, std::size_t bytes)
    : sets_(reinterpret_cast<Set*>(memory)), count_(bytes / sizeof(Set)) {
  std::uninitialized_default_construct_n(sets_, count_);
}

void DuplicateFilter::forget() noexcept {
  if (asked_ > 0) std::fill_n(sets_, count_, Set{});
  asked_ = found_ = 0;
}

bool DuplicateFilter::is_worth_it() const noexcept { return asked_ < trial || found_ * least_share >= asked_; }

const char* DuplicateFilter::alike(std::uint64_t hash, const char* run) const noexcept {
  for (const Slot& slot : set_of(hash).slots)
    if (slot.tag == tag_of(hash)) return run + slot.position;
  return run;
}

bool DuplicateFilter::has_or_note(std::uint64_t hash, Text line, const char* run) noexcept {
  ++asked_;
  Set& set = set_of(hash);
  const std::uint32_t tag = tag_of(hash);
  Slot* free = &set.slots[(hash >> 1U) % ways];
  for (Slot& slot : set.slots) {
    if (slot.tag == 0) {
      free = &slot;
      break;
    }
    // Behind `line` is its end, so that a longer line with the same beginning differs in the last byte.
    if (slot.tag == tag && std::memcmp(run + slot.position, line.data(), line.size() + 1) == 0) {
      ++found_;
      return true;
    }
  }
  *free = {tag, static_cast<std::uint32_t>(line.data() - run)};
  return false;
}

}  // namespace ecosort::lines
