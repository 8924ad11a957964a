// What a user is told of a compressed input that cannot be decompressed.
#pragma once

#include <string>

#include "codec/decoder.h"

namespace ecosort::lines {

// IoError with the name of the input and the offset in it.
[[noreturn]] void refuse(const std::string& name, const codec::Damaged& error);
// NotEnoughMemory.
[[noreturn]] void refuse(const std::string& name, const codec::TooLarge& error, const codec::Allowance& allowance);

// What is told of bytes behind the compressed data that were passed over.
[[nodiscard]] std::string garbage_text(const std::string& name, std::uint64_t offset);

}  // namespace ecosort::lines
