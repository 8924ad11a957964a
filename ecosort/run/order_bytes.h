// Reads and writes what decides the order of records, as the description of a run keeps it (description.h); rows have
// RowFormat::order_bytes(). Equal bytes: the same order.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "formats/records/key_spec.h"
#include "formats/row_format.h"
#include "run/description.h"

namespace ecosort::run {

[[nodiscard]] std::vector<std::byte> order_bytes(const records::RecordFormat& format);

// UsageError for bytes that are no order: they may be anything.
[[nodiscard]] records::RecordFormat record_format_of(const Description& description);
// The format has not seen a row yet.
[[nodiscard]] std::unique_ptr<formats::RowFormat> row_format_of(const Description& description, std::uint64_t header_lines = 0);

}  // namespace ecosort::run
