// Says which row of a group of equal rows goes out, and how. What is equal says the format of the rows (RowFormat::are_grouped),
// or the encoder that groups records.
//
//   run formation  drops rows that no policy will need, where they meet (kept_in_runs)
//   merge          decides when a group begins (is_decided_at_once: the first row goes out, the others are dropped), or when it
//                  ends: GroupEnd counts its rows until then
#pragma once

#include <cstdint>

#include "formats/lines/index_lines.h"

namespace ecosort::engine {

struct GroupPolicy {
  enum class Only : std::uint8_t { all, repeated, singles };

  bool is_on = false;  // else all rows go out
  bool keeps_last = false;
  bool counts = false;
  Only only = Only::all;
  std::uint64_t most = 1;  // rows of a group that go out, the first ones
  bool is_limit = false;   // those that do not are beyond a limit

  // Returns whether no two rows of a group go out.
  [[nodiscard]] bool is_one() const noexcept { return is_on && most == 1; }

  [[nodiscard]] bool is_decided_at_once() const noexcept { return is_on && !keeps_last && !counts && only == Only::all; }
  [[nodiscard]] bool is_decided_at_end() const noexcept { return is_on && !is_decided_at_once(); }
  // Returns what the groups in a run keep: the row that goes out, and one more that shows whether there are several.
  [[nodiscard]] lines::KeptOfEqual kept_in_runs() const noexcept {
    if (!is_on || counts) return {};
    return {only == Only::all ? most : 2, keeps_last};
  }
  [[nodiscard]] bool stays(std::uint64_t rows) const noexcept {
    return only == Only::all || (only == Only::repeated) == (rows > 1);
  }
  // Returns whether the rows of the groups that went out are all that came, where no group is left out (promise P1).
  [[nodiscard]] bool adds_up(std::uint64_t rows_of_groups, std::uint64_t out, std::uint64_t dropped) const noexcept {
    return !is_decided_at_end() || only != Only::all || rows_of_groups == out + dropped;
  }
};

}  // namespace ecosort::engine
