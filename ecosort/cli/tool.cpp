// `ecosort power` and `ecosort tune`: become the programs ecosort-power and ecosort-tune, which are written in Python. They are
// looked for beside this program, then in PATH, then in the environment that `make` sets up beside a build directory.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "base/errors.h"
#include "cli/commands.h"

namespace ecosort::cli {

namespace {

// Returns only when the program is not there.
void try_exec(const std::string& program, const Words& words) {
  std::vector<char*> argv{const_cast<char*>(program.c_str())};  // execvp takes them as such and does not write
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(program.c_str(), argv.data());
  if (errno != ENOENT && errno != ENOTDIR) throw IoError::from_call("exec", program, errno);
}

// Returns only by throwing.
int become(const std::string& name, const Words& words) {
  std::error_code unknown;  // without /proc only PATH is searched
  const auto self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (!self.empty()) ::setenv("ECOSORT_BIN", self.c_str(), 0);  // the program that sorts and validates: this one
  if (!self.empty()) try_exec(self.parent_path() / name, words);
  try_exec(name, words);
  if (!self.empty()) try_exec(self.parent_path().parent_path() / ".venv" / "bin" / name, words);
  throw UsageError(
      fmt::format("{0} is not installed: it is neither beside ecosort nor in PATH; run: pip install . in the "
                  "source tree, or make deps there",
                  name));
}

}  // namespace

int run_power(const Words& words) { return become("ecosort-power", words); }
int run_tune(const Words& words) { return become("ecosort-tune", words); }

int run_joulesort(const Words& words) {
  Words all{"joulesort"};
  all.insert(all.end(), words.begin(), words.end());
  return become("ecosort-power", all);
}

}  // namespace ecosort::cli
