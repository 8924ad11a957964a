// A job of records keeps the keys of each run's forecast in the head of the run. A process that continues with the job knows by
// them in which order the merge needs the blocks, and need not read these twice.
//
//   head of a run | description | zeros | key | key | ... | checksum |     of run blocks 0, key_stride, 2 key_stride, ...
//
// They are written with the description, so that they are durable when the journal says that the run is. A table that is damaged
// is not used: the keys are read from the run blocks then.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "demsort_inplace/job_records.h"
#include "run/description.h"
#include "run/shared_key.h"

namespace ecosort::demsort_inplace {

inline constexpr std::uint64_t kept_key_bytes = 16;
// A table has no more keys than this: the head of a run has room for it.
inline constexpr std::uint64_t most_kept_keys = (run::most_head_bytes / 2 - 8) / kept_key_bytes;

// Returns the bytes of a table for so many run blocks; 0 where no keys are kept.
[[nodiscard]] std::uint64_t kept_keys_bytes(std::uint64_t run_blocks, std::uint64_t key_stride) noexcept;

[[nodiscard]] std::vector<std::byte> encode_keys(const JobHeader& header, std::uint64_t run,
                                                 std::span<const run::ForecastKey> keys);

// Returns the keys of a part of a table, without its checksum.
[[nodiscard]] std::vector<run::ForecastKey> keys_in(std::span<const std::byte> bytes);

// Returns nothing where the table is damaged.
[[nodiscard]] std::optional<std::vector<run::ForecastKey>> decode_keys(const JobHeader& header, std::uint64_t run,
                                                                       std::span<const std::byte> bytes);

}  // namespace ecosort::demsort_inplace
