// The keys of an order as bytes (formats/row_format.h).
#pragma once

#include <vector>

#include "base/byte_stream.h"
#include "ecosort/request.hpp"

namespace ecosort::keys {

void add_keys(ByteWriter& out, const std::vector<ValueKey>& keys);
[[nodiscard]] std::vector<ValueKey> next_keys(ByteReader& in);

}  // namespace ecosort::keys
