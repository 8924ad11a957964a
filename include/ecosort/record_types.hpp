// The types of keys of records. Each has one row here: its member function of a key (request.hpp), its name in
// OFFSET:LENGTH:TYPE, its enumerator, what `explain` says of it, and what the help says. Names with one text in the help follow
// each other, and the last one of them has the text. Names in requests, the help, the manual, and the members of keys in C++ come
// from these rows.
//
//   SIZED  a field of any length
//   FIXED  a number of a width in bytes, with a byte order where it has more than one
#pragma once

#include <cstdint>
#include <string_view>

// clang-format off
#define ECOSORT_RECORD_TYPES(SIZED, FIXED) \
  SIZED(bytes, bytes, "bytes", "compared as unsigned bytes; this is the default") \
  SIZED(nocase, nocase, "bytes, ASCII letters of either case equal", "the same, but the ASCII letters a-z count as A-Z") \
  FIXED(u8, unsigned_integer, 1, "unsigned integer", "") \
  FIXED(u16, unsigned_integer, 2, "unsigned integer", "") \
  FIXED(u32, unsigned_integer, 4, "unsigned integer", "") \
  FIXED(u64, unsigned_integer, 8, "unsigned integer", "unsigned integers of 1, 2, 4, 8 bytes") \
  FIXED(i8, signed_integer, 1, "signed integer", "") \
  FIXED(i16, signed_integer, 2, "signed integer", "") \
  FIXED(i32, signed_integer, 4, "signed integer", "") \
  FIXED(i64, signed_integer, 8, "signed integer", "signed integers of 1, 2, 4, 8 bytes") \
  FIXED(f32, floating, 4, "floating-point number", "") \
  FIXED(f64, floating, 8, "floating-point number", \
    "floating-point numbers, from -infinity over -0 and +0 to +infinity; NaN of either sign comes after them, and all NaN are equal") \
  SIZED(dec, dec, "decimal number", \
    "a decimal number in ASCII, exact for any number of digits: optional sign, digits, optional point; blanks around it (space, " \
    "tab, CR, LF, NUL). Anything else is no number: it comes before all numbers, equal to its like") \
  SIZED(packed, packed, "packed decimal number", \
    "COBOL's COMP-3: two digits in a byte, and the sign in the last half byte (A, C, E, F: plus; B, D: minus); -0 is 0. A field " \
    "that holds anything else ends the sort with the number of its record") \
  SIZED(zoned, zoned, "zoned decimal number", \
    "COBOL's DISPLAY with the sign in the last byte: a digit in each byte, in EBCDIC (F0-F9; the last one A0-FF, the sign as in " \
    "packed) or in ASCII (0-9; the last one 0-9, { or A-I: plus, } or J-R or p-y: minus). Likewise") \
  SIZED(cp037, cp037, "text of code page 037", "") \
  SIZED(cp500, cp500, "text of code page 500", "") \
  SIZED(cp1047, cp1047, "text of code page 1047", "") \
  SIZED(cp1140, cp1140, "text of code page 1140", \
    "EBCDIC text in the order that it has as Unicode: blank, digits, capital letters, small letters. In the order of EBCDIC: bytes")
// clang-format on

namespace ecosort {

// The numbers are those of the journal of in-place jobs.
enum class RecordKeyType : std::uint8_t {
  bytes = 0,
  nocase = 1,
  dec = 2,
  unsigned_integer = 3,
  signed_integer = 4,
  floating = 5,
  packed = 6,
  zoned = 7,
  cp037 = 8,
  cp500 = 9,
  cp1047 = 10,
  cp1140 = 11
};

struct RecordTypeFacts {
  std::string_view name;
  RecordKeyType type;
  std::uint32_t width;  // bytes; 0: any
  std::string_view explanation, text;
};

// NOLINTBEGIN(cppcoreguidelines-macro-usage,bugprone-macro-parentheses): rows become code in several places
#define ECOSORT_SIZED(name, type, explanation, text) {#name, RecordKeyType::type, 0, explanation, text},
#define ECOSORT_FIXED(name, type, width, explanation, text) {#name, RecordKeyType::type, width, explanation, text},
inline constexpr RecordTypeFacts record_types[] = {ECOSORT_RECORD_TYPES(ECOSORT_SIZED, ECOSORT_FIXED)};
#undef ECOSORT_FIXED
#undef ECOSORT_SIZED
// NOLINTEND(cppcoreguidelines-macro-usage,bugprone-macro-parentheses)

}  // namespace ecosort
