// Windows of version numbers (-V).
//
// The order of versions compares parts without digits, character by character, and numbers in turn. Both fit in one row of bytes,
// here of the name "lib-1.20.300~b":
//
//     l  i  b  -  [1]  .  [20]  .  [2 bytes] 0x01 0x2c  ~  b
//
//     byte       | what it is
//     0          | with a second byte in front of names that are empty or begin with a dot
//     1          | ~
//     from 2 on  | a number: by itself, or how many bytes it takes, which follow; one byte for all of more than 19 digits
//     above      | letters, then the other characters; those that are not printable with one byte more
//
// Behind its end a row continues with numbers of 0, as the order has it: "a" and "a0" are equal, and "a~" comes before both.
#pragma once

#include <cstddef>
#include <cstdint>

#include "formats/lines/text.h"
#include "formats/records/encoder.h"

namespace ecosort::lines {

// The last byte of a window says this of what follows; windows that are equal else have its order.
enum class VersionRest : std::uint8_t {
  below = 1,   // something that comes before an end
  nothing,     // names with this window are equal
  by_compare,  // endings, such as ".tar.gz", which count where all else is equal, or a number of more than 19 digits
  above,       // something that comes behind an end
};

// Bytes depth ... depth + 10 of the row of the name without its endings, and the last byte.
[[nodiscard]] records::KeyWindow version_window(Text name, std::size_t depth) noexcept;

}  // namespace ecosort::lines
