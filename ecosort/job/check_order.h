// Looks whether a file is in the order that a request names, whatever its rows are.
#pragma once

#include <string>

#include "ecosort/request.hpp"
#include "engine/order_check.h"
#include "engine/rows/first_look.h"

namespace ecosort::job {

// The only input of the request, with its rows, keys, `unique`, memory and decompression; counted and hashed to the end.
// `look` sees the beginning of rows, not of records. UsageError, IoError.
[[nodiscard]] engine::OrderCheck check_order(const Request& request, const engine::rows::FirstLook& look = {});

// Names the row for people, such as "line 7: text" or "record 7".
[[nodiscard]] std::string place_of(const Request& request, const engine::Disorder& row);

}  // namespace ecosort::job
