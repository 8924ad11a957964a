// Looks at how an input begins: called once for each input, with the bytes of its first block, when they have arrived and before
// a line of them is written.
#pragma once

#include <functional>
#include <string>

#include "formats/lines/text.h"

namespace ecosort::engine::rows {

// May be empty. By the coordinator only.
using FirstLook = std::function<void(const std::string& name, Text first)>;

}  // namespace ecosort::engine::rows
