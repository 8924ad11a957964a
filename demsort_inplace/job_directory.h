// Where the files of an in-place job stand, and what a crash may have left of their names.
//
//   FILE                 the complete original, the complete result, or absent; never half a file
//   FILE.ecosort/        mode 0700
//     journal            written before anything is changed, removed last
//     input              FILE itself, under way
//     run-000000 ...     run 0 is the tail of the input
//     output             becomes FILE
//     spare              holds free space that is needed later
#pragma once

#include <string>
#include <vector>

#include "io/named_storage.h"

namespace ecosort::inplace {

struct JobPaths {
  explicit JobPaths(const std::string& path);

  std::string file, parent;  // FILE and the directory it is in
  std::string directory;     // FILE.ecosort
  std::string journal, input, output, spare;
  [[nodiscard]] std::string run(std::uint64_t number) const;
};

// The files of a job while it is under way. Runs that are consumed may be missing.
struct JobFiles {
  io::FilePtr journal, input, output, spare;
  std::vector<io::FilePtr> runs;
};

// Which names exist. `has_job`: the directory does.
struct Names {
  bool has_file = false, has_job = false, has_journal = false, has_input = false, has_output = false;
};
[[nodiscard]] Names look(io::NamedStorage& storage, const JobPaths& paths);

// Only one process may work on a job. UsageError if another one does. Released with the file; stores without descriptors have no
// other processes.
void lock_job(const io::File& journal, const std::string& path);

// Gives the result its name, unless an earlier attempt has: `from` is complete and durable, and missing only then. UsageError if
// something else stands under the name.
void publish(io::NamedStorage& storage, const JobPaths& paths, const std::string& from);

// Removes the directory and what the job made in it, the journal last. Refuses to remove `input` unless `with_input`.
void clean_up(io::NamedStorage& storage, const JobPaths& paths, bool with_input);

}  // namespace ecosort::inplace
