// The parts of an order as bytes (formats/row_format.h) that lines and other formats have.
#pragma once

#include <string>

#include "base/byte_stream.h"

namespace ecosort::lines {

// The language of an order, and the version of what knows it. UsageError where these bytes name another version.
void add_collation(ByteWriter& out, const std::string& locale);
[[nodiscard]] std::string next_collation(ByteReader& in);

}  // namespace ecosort::lines
