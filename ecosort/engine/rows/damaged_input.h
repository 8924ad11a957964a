// A user reads this of a compressed input that cannot be decompressed.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include "base/errors.h"
#include "codec/decoder.h"
#include "formats/row_format.h"

namespace ecosort::engine::rows {

// IoError with the name of the input and the offset in it.
[[noreturn]] void refuse(const std::string& name, const codec::Damaged& error);
// InputRefused: the input is whole.
[[noreturn]] void refuse(const std::string& name, const codec::Unreadable& error);
// InputRefused where an input, or what was decompressed of it, begins as something that holds no rows.
void refuse_contents(const std::string& name, std::string_view first);
// NotEnoughMemory. `given_bytes`: that decoders may take; `enough_bytes`: memory of all with which they could take what they
// need.
[[noreturn]] void refuse(const std::string& name, const codec::TooLarge& error, std::uint64_t given_bytes,
                         std::uint64_t enough_bytes);

// A row that its format refuses. In a compressed input it may be the first that shows of damage, whose checksum comes later: then
// as many plain bytes behind it are looked at before the row is blamed.
struct RefusedRow : InputRefused {
  explicit RefusedRow(const std::string& line) : InputRefused(line) {}
  // Keeps what is being handled, which is what the user is to see.
  explicit RefusedRow(const UsageError& error) : InputRefused(error.what()), cause(std::current_exception()) {}
  // To be called by a caller that found no damage behind it.
  [[noreturn]] void blame() const {
    if (cause) std::rethrow_exception(cause);
    throw *this;
  }
  std::exception_ptr cause = nullptr;
};
// The line says where the fault is.
[[nodiscard]] RefusedRow refused_row(const std::string& line, const formats::RowFault& fault);

inline constexpr std::uint64_t checked_behind_refused = std::uint64_t{256} << 20U;

}  // namespace ecosort::engine::rows
