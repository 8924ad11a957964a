// A row that is too long for the memory: how much memory would do, and whether it is one at all.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "formats/row_format.h"

namespace ecosort::engine::rows {

// Returns with how much a row of so many bytes can be sorted, merged and checked, whatever else the sort keeps in memory.
[[nodiscard]] std::uint64_t memory_for_row(std::uint64_t row_bytes) noexcept;

// Reads the row at `offset` of a file up to its end, and returns the memory for it; 0 where it is longer than is worth reading,
// or cannot be read.
[[nodiscard]] std::uint64_t memory_for_row(const std::string& name, std::uint64_t offset, const formats::RowFormat& format);

// Returns what is wrong with the row at `offset` of a file of which no more than this beginning is in memory, where a quote in it
// is closed nowhere in the file, or wrongly. Nothing: it may be a row, or the file cannot be read. It reads on as far as the
// quote is open; Interrupted at a signal.
[[nodiscard]] std::optional<formats::RowFault> fault_of_open_quote(const std::string& name, std::uint64_t offset, Text beginning,
                                                                   const formats::RowFormat& format,
                                                                   const std::atomic<int>& interrupted);

}  // namespace ecosort::engine::rows
