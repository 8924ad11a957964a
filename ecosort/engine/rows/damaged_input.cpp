#include "engine/rows/damaged_input.h"

#include <fmt/format.h>

#include "base/errors.h"
#include "base/size_text.h"
#include "formats/row_format.h"

namespace ecosort::lines {

void refuse(const std::string& name, const codec::Damaged& error) {
  const bool is_short = dynamic_cast<const codec::Truncated*>(&error) != nullptr;
  throw IoError(fmt::format("{}: {} at byte {} of the compressed file: {}; nothing was written", rows::shown_name(name),
                            is_short ? "is truncated" : "is damaged", error.offset, error.what()));
}

void refuse(const std::string& name, const codec::TooLarge& error, const codec::Allowance& allowance) {
  throw NotEnoughMemory(
      fmt::format("{}: {} to decompress it are more than the {} of the memory that are for that", rows::shown_name(name),
                  format_bytes(error.need_bytes), format_bytes(allowance.limit_bytes())),
      allowance.limit_bytes());
}

std::string garbage_text(const std::string& name, std::uint64_t offset) {
  return fmt::format("{}: what follows the compressed data from byte {} on is no such data, and was passed over",
                     rows::shown_name(name), offset);
}

}  // namespace ecosort::lines
