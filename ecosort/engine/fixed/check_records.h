// Checks whether records of a fixed size are in order already. Streams: memory for a block.
#pragma once

#include <cstdint>
#include <string>

#include "engine/order_check.h"
#include "formats/records/key_spec.h"

namespace ecosort::engine::fixed {

// Reads the file, "-" standard input, from byte `skipped` on. UsageError where it does not end with a whole record; IoError.
// Records are of one group that are equal by the keys of `groups`.
[[nodiscard]] OrderCheck check_records(const std::string& name, std::uint64_t skipped, const records::RecordFormat& format,
                                       const records::RecordFormat& groups, const CheckTerms& terms);

}  // namespace ecosort::engine::fixed
