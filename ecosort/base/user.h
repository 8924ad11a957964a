// Users of the machine, by name and number.
#pragma once

#include <sys/types.h>

#include <string>

namespace ecosort {

struct User {
  uid_t user = 0;
  gid_t group = 0;  // of the login
  std::string name;
};

// The name, or the number where it has none.
[[nodiscard]] std::string user_name(uid_t user);

// By name, or by number. UsageError that begins with `option` where there is none.
[[nodiscard]] User find_user(const std::string& text, const std::string& option);

// Makes this process that user's for good, with the groups of its login. Only root can; before any thread starts. IoError.
void become(const User& user);

}  // namespace ecosort
