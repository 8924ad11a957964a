// What a file holds that is to be sorted in its own space. Rearranged bytes of an archive or of compressed data are lost for
// good: such a file is refused before anything is written, unless an option says that it is to be sorted as it is.
#pragma once

#include <cstdint>

#include "base/errors.h"
#include "io/file.h"

namespace ecosort::inplace {

// The file holds something else than what is to be sorted. Its line says what; the way on depends on why.
struct NotText : InputRefused {
  enum class Because : std::uint8_t { container, nul_byte };
  NotText(const std::string& line, Because why) : InputRefused(line), because(why) {}
  Because because;
};

// NotText for what the table of contents knows, and for NUL bytes where lines do not end with them. Files of up to
// looked_at_bytes are looked at as a whole, larger ones in places that lie evenly.
inline constexpr std::uint64_t looked_at_bytes = std::uint64_t{16} << 20U;
void check_holds_lines(const io::File& file, char terminator);

// NotText for what the table knows for certain.
void check_holds_records(const io::File& file);

}  // namespace ecosort::inplace
