// Chooses the codec that pays for a run: fewer bytes for the drives against more work for the processors. Pure.
//
//   time of a phase = the longer of the drives' and the processors', and a part of the other one, which never overlaps all of it
//
// Runs are written while inputs are read, and read while the output is written: of 4 bytes per byte of input 2 shrink. (Of 3,
// where the input is a stream.)
//
//   joules = idle watts x that time + watts of a processor x its time + joules of a byte moved x bytes      (planner/profile.h)
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "planner/packing_plan.h"
#include "run/pack_terms.h"

namespace ecosort::run {

// Holds what was seen so far. Seconds per byte.
struct Pace {
  double drive_s = 0;    // of a byte moved, while the drives had work; 0: nothing is known
  double compute_s = 0;  // of a byte of input, by all threads together, of processors
  unsigned threads = 1;
  bool reads_input = true;  // from the drives; else it comes as a stream
  double slowdown = 1;      // computing takes so many times as long, because other work has the processors meanwhile
};

// Says what a codec made of a block of the run. Seconds of one thread per plain byte.
struct Trial {
  PackTerms terms;
  double ratio = 1;  // plain bytes per stored byte
  double pack_s = 0;
};

struct CodecChoice {
  PackTerms terms;  // none where none pays
  std::string why;
};

// The one that takes the least time; with `power` the fewest joules.
[[nodiscard]] CodecChoice choose_codec(const Pace& pace, std::span<const Trial> trials,
                                       const std::optional<planner::PowerModel>& power = std::nullopt);

// Returns whether any codec could pay: one that costs nothing and leaves nothing to move. Where not, trials are work for nothing.
[[nodiscard]] bool could_pay(const Pace& pace, const std::optional<planner::PowerModel>& power);

// In which ways a run may be packed: what was asked for, or with `auto` each codec that could be; records (`record_size` > 1) as
// they are and by columns, rows (`record_size` 0) as they are and truncated.
[[nodiscard]] std::vector<PackTerms> ways_to_pack(const codec::RunCompression& wanted, std::uint32_t record_size);

// Chooses what a run gets by trials of all these ways: with `auto` as above; else what shrinks most, and without trials what was
// asked for.
[[nodiscard]] CodecChoice choose_terms(const planner::PackingPlan& plan, const Pace& pace, std::span<const Trial> trials);

}  // namespace ecosort::run
