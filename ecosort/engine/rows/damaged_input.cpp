#include "engine/rows/damaged_input.h"

#include <fmt/format.h>

#include "base/errors.h"
#include "base/size_text.h"
#include "codec/contents.h"

namespace ecosort::engine::rows {

void refuse(const std::string& name, const codec::Damaged& error) {
  const bool is_short = dynamic_cast<const codec::Truncated*>(&error) != nullptr;
  throw IoError(fmt::format("{}: {} at byte {} of the compressed file: {}; nothing was written", formats::shown_name(name),
                            is_short ? "is truncated" : "is damaged", error.offset, error.what()));
}

void refuse(const std::string& name, const codec::Unreadable& error) {
  throw InputRefused(fmt::format("{}: is {}", formats::shown_name(name), error.what()));
}

void refuse_contents(const std::string& name, std::string_view first) {
  if (const codec::Contents* const found = codec::contents_of(first, name))
    throw InputRefused(fmt::format("{}: is {}", formats::shown_name(name), codec::text_of(*found)));
}

void refuse(const std::string& name, const codec::TooLarge& error, std::uint64_t given_bytes, std::uint64_t enough_bytes) {
  throw NotEnoughMemory(fmt::format("{}: {} to decompress it are more than the {} of the memory that are for that",
                                    formats::shown_name(name), format_bytes(error.need_bytes), format_bytes(given_bytes)),
                        given_bytes, enough_bytes);
}

RefusedRow refused_row(const std::string& line, const formats::RowFault& fault) {
  RefusedRow refused(line);
  if (fault.is_of_quotes) refused.cause = std::make_exception_ptr(QuoteMisplaced(line));
  if (!fault.delimiter.empty()) refused.cause = std::make_exception_ptr(DelimiterMistaken(line, fault.delimiter));
  return refused;
}

}  // namespace ecosort::engine::rows
