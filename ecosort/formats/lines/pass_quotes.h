// Quotes and escapes of a text, found by the kernels of lines.
#pragma once

#include "base/text.h"
#include "formats/row_format.h"

namespace ecosort::lines {

// Goes on to the end of a text: whatever ends rows in it, `inside` says what lies behind. For rows with quotes or escapes.
void pass_quotes(const formats::RowFormat& format, Text text, formats::Inside& inside) noexcept;

}  // namespace ecosort::lines
