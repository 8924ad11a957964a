// Knows which files a request writes, so that no other file of the run takes the place of one.
#pragma once

#include <string>

#include "ecosort/request.hpp"

namespace ecosort::job {

// Empty: there is none; an output of "-" is a stream.
struct WrittenFiles {
  std::string output, claim{}, set_aside{};
  std::string split{};  // with {} where the names of its files differ
};
[[nodiscard]] WrittenFiles written_files(const Request& request);

// Returns what the file is that a name leads to, in words of a user; null: none of these.
[[nodiscard]] const char* role_of(const std::string& path, const WrittenFiles& files);

}  // namespace ecosort::job
