// Decides which profile of ecosort-tune holds, and what of it: options on the command line win over the profile, that over the
// defaults.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "job/predict.h"

namespace ecosort::cli {

// The words on the command line say this about profiles.
struct ProfileWords {
  std::string file;  // --profile; empty: the one of the configuration directory
  bool none = false;
};

// Says which profile was chosen. `used` names the options whose values are the profile's.
struct ProfileChoice {
  std::string path;  // empty: there is none, or none was wanted
  std::optional<planner::Profile> profile;
  bool was_named = false;  // by --profile
  std::string unused;      // why the one of the configuration directory is not used; empty if it is
  std::set<std::string, std::less<>> used;

  // Returns whether what the profile sets for the option is for so much memory, give or take an eighth.
  [[nodiscard]] bool is_for(std::string_view option, std::uint64_t memory_bytes) const;

  // "option", "profile" or "default".
  [[nodiscard]] const char* source_of(std::string_view option, bool was_given) const;
};

// $XDG_CONFIG_HOME/ecosort/profile.toml, else ~/.config/ecosort/profile.toml, which ecosort-tune writes; empty without a home.
[[nodiscard]] std::string default_profile_path();

// UsageError for a named profile that cannot be believed; one of the configuration directory is then left alone as a whole.
[[nodiscard]] ProfileChoice choose_profile(const ProfileWords& words);

// The profile has a setting that cannot be: UsageError if it was named, else it is left alone as a whole.
void reject(ProfileChoice& choice, const std::string& reason);

// A line for the user about a profile that was found and is not used; empty if there is nothing to say.
[[nodiscard]] std::string notice_of(const ProfileChoice& choice);

}  // namespace ecosort::cli
