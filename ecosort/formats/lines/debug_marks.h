// --debug: a line, and below it where its keys lie.
#pragma once

#include <string>

#include "formats/lines/line_order.h"

namespace ecosort::lines {

// Appends the line with '>' for tabs, and for each level of the order a line which underlines the part that is compared; all end
// with a newline. The marks count on bytes of one column each, control characters but tabs of none, as sort does in the C locale.
void append_marked(Text line, const LineOrder& order, std::string& to);

}  // namespace ecosort::lines
