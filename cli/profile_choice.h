// Which profile of ecosort-tune holds, and what of it: options on the command line win over the profile, that over the defaults.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "cli/commands.h"
#include "job/predict.h"

namespace ecosort::cli {

// What the words on the command line say about profiles.
struct ProfileWords {
  std::string file;  // --profile; empty: the one of the configuration directory
  bool none = false;
};

// Which profile was chosen. `used` names the options whose values are the profile's.
struct ProfileChoice {
  std::string path;  // empty: there is none, or none was wanted
  std::optional<planner::Profile> profile;
  bool was_named = false;  // by --profile
  std::string unused;      // why the one of the configuration directory is not used; empty if it is
  std::set<std::string, std::less<>> used;

  // Whether what the profile sets for the option is for so much memory, give or take an eighth.
  [[nodiscard]] bool is_for(std::string_view option, std::uint64_t memory_bytes) const;

  // "option", "profile" or "default".
  [[nodiscard]] const char* source_of(std::string_view option, bool was_given) const;
};

// $XDG_CONFIG_HOME/ecosort/profile.toml, else ~/.config/ecosort/profile.toml, which ecosort-tune writes; empty without a home.
[[nodiscard]] std::string default_profile_path();

// UsageError for a named profile that cannot be believed; one of the configuration directory is then left alone as a whole.
[[nodiscard]] ProfileChoice choose_profile(const ProfileWords& words);

// The profile's settings among `applicable` options that were not `given`, as words of a command line; sets `used`.
[[nodiscard]] Words words_of(ProfileChoice& choice, const std::vector<std::string_view>& applicable,
                             const std::set<std::string_view>& given);

// The profile has a setting that cannot be: UsageError if it was named, else it is left alone as a whole.
void reject(ProfileChoice& choice, const std::string& reason);

// A line for the user about a profile that was found and is not used; empty if there is nothing to say.
[[nodiscard]] std::string notice_of(const ProfileChoice& choice);

// The same options with what the profile says in addition; parse(words) reads a command line as it read that of `asked`.
template <class Options, class Parse>
[[nodiscard]] Options with_profile(Options asked, const std::vector<std::string_view>& applicable, const Words& words,
                                   const Parse& parse) {
  ProfileChoice choice = choose_profile(asked.profile_words);
  Words all = words_of(choice, applicable, asked.given);
  Options options = asked;
  if (!all.empty()) {
    all.insert(all.end(), words.begin(), words.end());
    try {
      options = parse(all);
    } catch (const UsageError& error) {
      reject(choice, "profile '" + choice.path + "' is damaged: " + error.what());
    }
  }
  options.given = std::move(asked.given);
  options.profile = std::move(choice);
  return options;
}

}  // namespace ecosort::cli
