#include "cli/profile_choice.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/errors.h"

namespace ecosort::cli {

namespace {

// A search turns these. Anything else in a profile was not written by ecosort-tune.
constexpr std::array<std::string_view, 7> tunable{"--threads",       "--merge-threads", "--io",      "--request-size",
                                                  "--request-depth", "--run-records",   "--compress"};

bool is_there(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void check_settings(const std::string& path, const planner::Profile& profile) {
  std::set<std::string_view> seen;
  for (const planner::Setting& setting : profile.settings) {
    if (std::ranges::find(tunable, setting.option) == tunable.end())
      throw UsageError(fmt::format("profile '{}' is damaged: it sets '{}', which no profile may", path, setting.option));
    if (!seen.insert(setting.option).second)
      throw UsageError(fmt::format("profile '{}' is damaged: it sets {} twice", path, setting.option));
  }
}

}  // namespace

bool ProfileChoice::is_for(std::string_view option, std::uint64_t memory_bytes) const {
  if (!profile) return false;
  const auto found = std::ranges::find(profile->settings, option, &planner::Setting::option);
  if (found == profile->settings.end()) return false;
  const std::uint64_t theirs = found->memory_bytes, most = std::max(theirs, memory_bytes);
  return theirs == 0 || most - std::min(theirs, memory_bytes) <= most / 8;
}

const char* ProfileChoice::source_of(std::string_view option, bool was_given) const {
  if (used.contains(option)) return "profile";
  return was_given ? "option" : "default";
}

std::string default_profile_path() {
  std::string base = variable("XDG_CONFIG_HOME");
  if (const std::string home = variable("HOME"); base.empty() && !home.empty()) base = home + "/.config";
  return base.empty() ? "" : base + "/ecosort/profile.toml";
}

ProfileChoice choose_profile(const ProfileWords& words) {
  if (words.none && !words.file.empty()) throw UsageError("--profile and --no-profile exclude each other");
  ProfileChoice choice;
  if (words.none) return choice;
  choice.was_named = !words.file.empty();
  choice.path = choice.was_named ? words.file : default_profile_path();
  if (!choice.was_named && (choice.path.empty() || !is_there(choice.path))) return {};
  try {
    planner::Profile profile = planner::read_profile(choice.path, planner::this_machine());
    check_settings(choice.path, profile);
    choice.profile = std::move(profile);
  } catch (const UsageError& error) {
    reject(choice, error.what());
  }
  return choice;
}

void reject(ProfileChoice& choice, const std::string& reason) {
  if (choice.was_named) throw UsageError(reason);
  choice.unused = reason;
  choice.profile.reset();
  choice.used.clear();
}

std::string notice_of(const ProfileChoice& choice) {
  return choice.unused.empty() ? "" : fmt::format("{}; it is not used (--no-profile: do not look for one)", choice.unused);
}

}  // namespace ecosort::cli
