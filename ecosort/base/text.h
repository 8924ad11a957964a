// All formats name the bytes of a row or of a part of it so.
#pragma once

#include <string_view>

namespace ecosort {

// Lies elsewhere, without the byte that ends rows. Texts compare as unsigned bytes.
using Text = std::string_view;

}  // namespace ecosort
