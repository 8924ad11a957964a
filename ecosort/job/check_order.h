// Looks whether a file is in the order that a request names, whatever its rows are.
#pragma once

#include <string>

#include "ecosort/request.hpp"
#include "engine/order_check.h"

namespace ecosort::job {

// The only input of the request, with its rows, keys, `unique`, memory and decompression; counted and hashed to the end.
// UsageError, IoError.
[[nodiscard]] engine::OrderCheck check_order(const Request& request);

// Names the row for people, such as "line 7: text" or "record 7".
[[nodiscard]] std::string place_of(const Request& request, const engine::Disorder& row);

}  // namespace ecosort::job
