// Text as people have it: lines that begin alike. Each function appends one line without its end; all of it follows from `random`
// and the line's number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/random.h"

namespace ecosort::bench {

// From 0 on; small numbers are wanted most.
[[nodiscard]] std::uint64_t mostly_small(Random& random, std::uint64_t most);

// A file below one of five roots, in one of 20,000 directories.
void append_path(std::string& out, Random& random, std::uint64_t number);
// A page of one of 50 shops.
void append_link(std::string& out, Random& random, std::uint64_t number);
// A line of a system log that begins with its time, of one day in random order.
void append_dated(std::string& out, Random& random, std::uint64_t number);
// A dated log line behind a random number.
void append_numbered(std::string& out, Random& random, std::uint64_t number);
// Appends such a line in the order of its time.
void append_in_order(std::string& out, Random& random, std::uint64_t number);
// An event as JSON, which begins with its time.
void append_event(std::string& out, Random& random, std::uint64_t number);
// A package and one of its versions, as a package index lists them.
void append_package(std::string& out, Random& random, std::uint64_t number);
// An address of version 4 in dots.
void append_address(std::string& out, Random& random, std::uint64_t number);
// An integer of up to nine digits.
void append_integer(std::string& out, Random& random, std::uint64_t number);
// A row of CSV in the columns of visit_names: the day of one of six years, one of 500 cities, most of them seldom, a street.
inline constexpr std::string_view visit_names = "id,date,city,street,minutes,price\n";
void append_visit(std::string& out, Random& random, std::uint64_t number);

}  // namespace ecosort::bench
