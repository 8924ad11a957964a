// Knows which files a request writes, so that no other file of the run takes the place of one.
#pragma once

#include <string>

#include "ecosort/request.hpp"
#include "io/plain_file.h"

namespace ecosort::job {

// Empty: there is none; an output of "-" is a stream.
struct WrittenFiles {
  std::string output, claim{}, set_aside{};
  std::string split{};  // "rows=1000": the output has {} where the names of the files differ
};
[[nodiscard]] WrittenFiles written_files(const Request& request);

// Both names lead to one file, whether or not it is there yet.
[[nodiscard]] bool are_one_file(const std::string& one, const std::string& other);
using io::FileNumber;
using io::numbers_of;
// A name leads to a directory, or to a file in it, whether or not these are there yet.
[[nodiscard]] bool is_in(const std::string& path, const std::string& directory);

// Returns what the file is that a name leads to, in words of a user; null: none of these.
[[nodiscard]] const char* role_of(const std::string& path, const WrittenFiles& files);

}  // namespace ecosort::job
