// `ecosort power`, `ecosort tune`, `ecosort queue`, `ecosort cluster` and others: become the programs ecosort-power,
// ecosort-tune, ecosort-appliance, ecosort-cluster, ecosort-parquet and ecosort-remote, which are written in Python. They are
// looked for beside this program, then in PATH, then in the environment that `make` sets up beside a build directory. What no one
// named (the first and the last) is used only where no one else can have put it: this user may be root.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "base/errors.h"
#include "base/text_json.h"
#include "base/trusted_place.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/option_table.h"
#include "cli/report_files.h"
#include "cli/request_words.h"

namespace ecosort::cli {

namespace {

// Returns only when the program is not there.
void try_exec(const std::string& program, const Words& words) {
  std::vector<char*> argv{const_cast<char*>(program.c_str())};  // execv takes them as such and does not write
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  if (errno != ENOENT && errno != ENOTDIR) throw IoError::from_call("exec", program, errno);
}

// Returns when there is no such program, or when it is not to be trusted: then with the reason.
std::string try_trusted(const std::string& program, const Words& words) {
  std::error_code none;
  if (!std::filesystem::exists(std::filesystem::symlink_status(program, none))) return {};
  const std::string reason = reason_to_distrust_place(program, root_and_user());
  if (reason.empty()) try_exec(program, words);
  return reason.empty() ? "" : fmt::format("'{}' was not used, because {}", program, reason);
}

// An entry that is empty or relative would be another directory each time.
void try_path(const std::string& name, const Words& words) {
  const char* const path = std::getenv("PATH");
  std::istringstream entries(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string directory; std::getline(entries, directory, ':');) {
    const std::string program = fmt::format("{}/{}", directory, name);
    if (directory.starts_with('/') && ::access(program.c_str(), X_OK) == 0) try_exec(program, words);
  }
}

std::string debian_package_of(const std::string& program) { return program == "ecosort-appliance" ? program : "ecosort-tools"; }

// Returns only by throwing.
int become(const std::string& name, const Words& words) {
  std::error_code unknown;  // without /proc only PATH is searched
  const auto self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (!self.empty()) ::setenv("ECOSORT_PROGRAM", self.c_str(), 0);  // the program that sorts and validates: this one
  std::string distrusted = self.empty() ? "" : try_trusted(self.parent_path() / name, words);
  try_path(name, words);
  if (distrusted.empty() && !self.empty())
    distrusted = try_trusted(self.parent_path().parent_path() / ".venv" / "bin" / name, words);
  if (!distrusted.empty())
    throw UsageError(fmt::format("{} is not in PATH, and {}; make that place yours or root's alone, or add its directory to PATH",
                                 name, distrusted));
  throw UsageError(fmt::format("{} is not installed: apt install {}, or in the source tree: make tools; see docs/install.md",
                               name, debian_package_of(name)));
}

// A command of ours that is a command of one of these programs.
int become_command(const std::string& name, const std::string& command, const Words& words) {
  Words all{command};
  all.insert(all.end(), words.begin(), words.end());
  return become(name, all);
}

// The program gets a document, because the words are read here, by the one catalog.
int become_parquet(const Json& document) { return become("ecosort-parquet", {with_coded_texts(document).text()}); }

}  // namespace

int run_power(const Words& words) { return become("ecosort-power", words); }
int run_tune(const Words& words) { return become("ecosort-tune", words); }
int run_cluster(const Words& words) { return become("ecosort-cluster", words); }

int run_remote(const Words& words) { return become("ecosort-remote", words); }

int run_parquet(const Words& words) {
  RequestWords line = read_request_words(command_table("parquet"), words, posix_rules_of_environment());
  if (line.given.asks_for_help) return print_help(*line.table);
  check_named_reports(line.given);
  if (!line.given.has("--by")) throw UsageError("parquet: no key; name a column with --by COLUMN[:desc]");
  if (line.given.operands.empty()) throw UsageError("parquet: no input; name a Parquet file");
  if (!line.given.has("--output") || line.given.word("--output") == "-")
    throw UsageError("parquet: name the output with -o FILE; its end is written last, so that it cannot be a stream");
  line.document["inputs"] = line.given.operands;
  line.document["reports"]["quiet"] = line.given.has("--quiet");
  if (line.given.has("--stats")) line.document["reports"]["stats"] = line.given.word("--stats");
  return become_parquet(line.document);
}

int check_parquet(const Words& files, bool quiet) { return become_parquet({{"check", files}, {"reports", {{"quiet", quiet}}}}); }

int run_joulesort(const Words& words) { return become_command("ecosort-power", "joulesort", words); }
int run_queue(const Words& words) { return become_command("ecosort-appliance", "queue", words); }
int run_serve(const Words& words) { return become_command("ecosort-appliance", "serve", words); }

}  // namespace ecosort::cli
