// The index of records that were read, and what they sum up to.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/fixed/tally.h"
#include "formats/records/encoder.h"

namespace ecosort::engine::fixed {

// out[i] = the entry of records[i], with index first_index + i, for i in 0..count). Works in steps that stay in the first-level
// cache, so that the kernels read the records from memory once. Valsort's checksum only where `with_checksum`. Thread-safe.
[[nodiscard]] Tally extract_records(const records::Encoder& encoder, const std::byte* records, std::size_t count,
                                    std::uint32_t first_index, sorting::Entry* out, bool with_checksum);

}  // namespace ecosort::engine::fixed
