// Splitting of sorted runs where a rank near the one asked will do: a guess, and a short search around it in each run.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/fixed/run_view.h"
#include "formats/records/encoder.h"

namespace ecosort::engine::fixed {

// Cuts each range as split_at_rank does, ordered by (key, run, position), at a rank that is no farther than `tolerance` from
// `rank`. Looks at about eight records of each run, four times fewer than the exact selection, where the runs are drawn from the
// same keys, as runs of unsorted input are. Empty where they are not, and the guess was too far off. Pure; thread-safe on views
// no one changes.
[[nodiscard]] std::optional<std::vector<std::uint64_t>> split_near_rank(const std::vector<RunView>& views,
                                                                        const std::vector<RunRange>& ranges, std::uint64_t rank,
                                                                        std::uint64_t tolerance, const records::Encoder& encoder);

}  // namespace ecosort::engine::fixed
