// Whether inputs look like what `ecosort gen` makes. Asked where nothing says what else the records are: text whose size happens
// to be a multiple of 100 would be torn line by line.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "io/file.h"

namespace ecosort::cli {

// The format of the records is nobody's choice: neither --record-size nor --key is among the options given.
[[nodiscard]] bool is_format_assumed(const std::set<std::string_view>& given);

// Looks at a few records at the begin, in the middle and at the end of a file. UsageError with the two commands that may be
// meant; `command` is "sort" or "inplace". A file without a whole record passes, and what cannot be read.
void require_benchmark_records(const io::File& file, std::string_view command);

// The same for the first bytes of a stream of this name, when they are there.
[[nodiscard]] std::function<void(std::span<const std::byte>)> look_at_stream(std::string name);

}  // namespace ecosort::cli
