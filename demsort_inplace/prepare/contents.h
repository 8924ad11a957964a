// Looks at what a file holds that is to be sorted in its own space. Rearranged bytes of an archive or of compressed data are
// lost for good: such a file is refused before anything is written, unless an option says that it is to be sorted as it is.
#pragma once

#include <cstdint>
#include <string>

#include "base/errors.h"
#include "io/file.h"

namespace ecosort::demsort_inplace::prepare {

// The file looks like what would be lost. `has_nul`: it may hold lines that end with NUL.
struct UnfitContents : UsageError {
  explicit UnfitContents(const std::string& line, bool nul = false) : UsageError(line), has_nul(nul) {}
  bool has_nul;
};

// UnfitContents for what the table of contents knows, and for NUL bytes where lines do not end with them. Files of up to
// looked_at_bytes are looked at as a whole, larger ones in places that lie evenly.
inline constexpr std::uint64_t looked_at_bytes = std::uint64_t{16} << 20U;
void check_holds_lines(const io::File& file, char terminator);

// UnfitContents for what the table knows for certain.
void check_holds_records(const io::File& file);

}  // namespace ecosort::demsort_inplace::prepare
