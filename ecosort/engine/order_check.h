// Describes the order of the rows of a file, as it was found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hash/multiset_hash.h"

namespace ecosort::engine {

struct Disorder {
  std::uint64_t line_number = 0;  // from 1: of the line with which the row begins that comes too late; of records, their number
  std::string line;               // the row; of records nothing
};

// Counts the rows of a file, and how each relates to the one before it.
struct OrderCheck {
  std::uint64_t rows = 0;       // those that are compared: neither on top nor blank
  std::uint64_t equal = 0;      // to the row before in all keys
  std::uint64_t unordered = 0;  // come before the row in front of them
  std::uint64_t doubled = 0;    // are of its group, of which only one may be there
  hash::MultisetHash hash;      // of all rows, those on top, too, as a sort reports it
  std::optional<Disorder> first;
};

struct CheckTerms {
  bool unique = false;    // two rows of a group are out of order
  bool is_whole = false;  // counts and hashes to the end, instead of stopping at the first row that is out of order
};

// The next row relates to the one before it like this: negative where that comes first; `is_double`: the two are in one group, of
// which only one may be there. Returns whether it is in order. The row itself is noted by the caller.
[[nodiscard]] inline bool count(int relation, bool is_double, OrderCheck& check) noexcept {
  check.equal += relation == 0 ? 1 : 0;
  check.unordered += relation > 0 ? 1 : 0;
  check.doubled += is_double ? 1 : 0;
  return relation <= 0 && !is_double;
}

}  // namespace ecosort::engine
