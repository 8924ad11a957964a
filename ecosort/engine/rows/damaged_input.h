// What a user is told of a compressed input that cannot be decompressed.
#pragma once

#include <cstdint>
#include <string>

#include "base/errors.h"
#include "codec/decoder.h"

namespace ecosort::lines {

// IoError with the name of the input and the offset in it.
[[noreturn]] void refuse(const std::string& name, const codec::Damaged& error);
// NotEnoughMemory.
[[noreturn]] void refuse(const std::string& name, const codec::TooLarge& error, const codec::Allowance& allowance);

// A row that its format refuses. In a compressed input it may be the first that shows of damage, whose checksum comes later: then
// as many plain bytes behind it are looked at before the row is blamed.
struct RefusedRow : UsageError {
  using UsageError::UsageError;
};
inline constexpr std::uint64_t checked_behind_refused = std::uint64_t{256} << 20U;

// What is told of bytes behind the compressed data that were passed over.
[[nodiscard]] std::string garbage_text(const std::string& name, std::uint64_t offset);

}  // namespace ecosort::lines
