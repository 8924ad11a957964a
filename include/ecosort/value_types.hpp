// The types of keys of CSV and JSON lines. Each has one row here: its enumerator and the member function of a key (request.hpp),
// its name in NAME:TYPE, what may follow the name, and what the help says. The names in requests, the help, the manual, `ecosort
// manual json` and the methods of Python's col() come from these rows. Runs that are kept on a drive hold the number of a row: a
// new row comes last.
//
//   CODED  a function in a file of formats/keys/ makes bytes of a value that order it: code_NAME (formats/keys/code.h)
//   PLAIN  formats/keys/key.h knows the type, or coder_of() makes such a function of what follows its name
#pragma once

// clang-format off
#define ECOSORT_VALUE_TYPES(PLAIN, CODED) \
  PLAIN(text, "text", "@LOCALE", \
    "compared as unsigned bytes; this is the default. text@LOCALE: in the order of a language, by ICU: text@de, text@sv, text@root " \
    "for that of all languages; with options as BCP 47 has them, such as text@de-u-kn-true (numbers by value), text@en-u-ks-level1 " \
    "(letters of either case, with accents or without, are equal). A value that is no UTF-8 cannot be read") \
  PLAIN(nocase, "nocase", "", "the same, but the ASCII letters a-z count as A-Z") \
  PLAIN(number, "number", ":decimal=CHAR", \
    "a decimal number, exact for any number of digits: optional sign, digits, optional point, optional exponent of up to 5 " \
    "digits. Blanks and tabs around it mean nothing; within it there are none, and no commas. number:decimal=, reads numbers as " \
    "people write them where a comma is the decimal point: 1.234.567,89 or 1 234 567,89; number:decimal=. where it is a point: " \
    "1,234,567.89 or 1'234'567.89. Groups have three digits (as in India, all but the last may have two) and one separator: the other " \
    "one of comma and point, a blank, ' or _. A currency sign may be on either side (amounts are compared, whatever the currency); % " \
    "means hundredths; the minus may be in front or behind, and (1,50) is -1,50") \
  PLAIN(integer, "integer", "", "the same without a point and an exponent") \
  PLAIN(date, "date", "", \
    "a date, or a date and a time, in ISO 8601 (2024, 2024-05, 2024-05-01, 20240501, 2024-05-01T09:30:00.25+02:00; no weeks and " \
    "days of the year; no blanks around it; Z, UTC or GMT or an offset at the end), or in the --date-format; what is left out at " \
    "the end is that of the beginning, and without an offset from UTC it is one of UTC") \
  PLAIN(version, "version", "", "numbers within text are compared as numbers, as ecosort lines -V does") \
  PLAIN(length, "length", "", "how many characters the value has (UTF-8); an empty one has 0, and is no missing value") \
  PLAIN(natural, "natural", "", "as version, but the ASCII letters a-z count as A-Z") \
  CODED(ip, "ip", "", \
    "an address of IPv4 or IPv6, with a prefix length such as /24 or without one, which counts as the whole address. All of IPv4 " \
    "come before all of IPv6; ::ffff:192.0.2.1 is one of IPv6. By address, then by prefix length, then by the zone behind %") \
  CODED(size, "size", "", \
    "an exact size: a decimal number and a unit, whose letters may be of either case: K, M, G, T, P, E, Z, Y, R, Q and KiB, MiB " \
    "and so on are powers of 1024, KB, MB and so on are powers of 1000; B or nothing is one byte") \
  CODED(duration, "duration", "", \
    "a span of time, exact: 1h30m (w, d, h, m, s, ms, us, ns; each once, the longest first, decimals in any), 01:30:00.5 (hours, " \
    "minutes, seconds), or ISO 8601 (PT1H30M, P2W; no years and months). 01:30 and numbers without a unit are none") \
  CODED(hex, "hex", "", "a hexadecimal number of any length, such as 1f, 0x1F or -0xff") \
  CODED(boolean, "bool", "", "false, f, no, n, off, 0 come before true, t, yes, y, on, 1, of either case") \
  CODED(uuid, "uuid", "", \
    "128 bits, by their bytes, so that those of version 7 are in the order of time: with hyphens or without, of either case, in " \
    "braces or behind urn:uuid:") \
  CODED(floating, "float", "", \
    "the 64-bit floating-point number (IEEE 754) that is nearest to the text: -inf, numbers, -0 before 0, inf, and NaN behind all, " \
    "as sort's f64 has it; -infinity, Infinity, nan of either case") \
  PLAIN(list, "list", ":A|B|C", \
    "one of the values that are listed, in the order of the list: size:list:S|M|L. A backslash makes the character behind " \
    "it a part of a value, such as |. Other values are as those that cannot be read")
// clang-format on

#include <cstdint>
#include <string_view>

namespace ecosort {

// NOLINTBEGIN(cppcoreguidelines-macro-usage,bugprone-macro-parentheses): rows become code in several places
#define ECOSORT_ENUMERATOR(type, name, argument, text) type,
enum class ValueType : std::uint8_t { ECOSORT_VALUE_TYPES(ECOSORT_ENUMERATOR, ECOSORT_ENUMERATOR) };
#undef ECOSORT_ENUMERATOR

// `argument`: what may follow the name, beginning with the character between the two.
struct ValueTypeFacts {
  ValueType type;
  std::string_view name, argument, text;
};

#define ECOSORT_FACTS(type, name, argument, text) {ValueType::type, name, argument, text},
inline constexpr ValueTypeFacts value_types[] = {ECOSORT_VALUE_TYPES(ECOSORT_FACTS, ECOSORT_FACTS)};
#undef ECOSORT_FACTS
// NOLINTEND(cppcoreguidelines-macro-usage,bugprone-macro-parentheses)

}  // namespace ecosort
