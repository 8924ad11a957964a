// The words of a command say this: the request, and what is asked of the run besides.
#pragma once

#include <cstdint>
#include <string_view>

#include "cli/commands.h"
#include "cli/profile_choice.h"
#include "cli/request_words.h"
#include "cli/watched_run.h"

namespace ecosort::cli {

struct CommandLine : RequestWords {
  RunReports reports{};
  ProfileChoice profile{};  // what it sets is in the request

  [[nodiscard]] bool asks_for_help() const noexcept { return given.asks_for_help; }
  // Both take the last spelling of the option.
  [[nodiscard]] bool has(std::string_view option) const noexcept { return given.has(option); }
  [[nodiscard]] std::string_view word(std::string_view option) const noexcept { return given.word(option); }

  [[nodiscard]] bool is_resumable() const noexcept { return request.place.kind == PlaceKind::resumable; }
  // The rows, of a command that has such.
  [[nodiscard]] const Records& records() const { return std::get<Records>(request.rows); }
  [[nodiscard]] const Lines& lines() const { return std::get<Lines>(request.rows); }
  // --assume-size; 0: it is not given.
  [[nodiscard]] std::uint64_t assumed_bytes() const;
};

// Reads the words alone, without a profile. `command` is the name of a table, such as "sort" or "plan sort". Throws UsageError
// with the option for what cannot be read, and for options that conflict.
[[nodiscard]] CommandLine read_command_line(std::string_view command, const Words& words);
[[nodiscard]] CommandLine read_command_line(const CommandTable& table, const Words& words, const lines::PosixRules& rules);

// Names the command that sorts the rows of a format, such as "records".
[[nodiscard]] std::string_view command_of_format(std::string_view format) noexcept;

// Adds what a profile says, and --goal energy, which needs one.
void take_profile(CommandLine& line);

// Prints the help of a command, and returns the exit code.
int print_help(const CommandTable& table);

// Before the work: a pipe that no one reads is an error like others, and a profile that is not used is named.
void begin(const CommandLine& line);

}  // namespace ecosort::cli
