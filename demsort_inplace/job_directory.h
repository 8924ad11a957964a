// Says where the files of a job are, and what a crash may have left of their names.
//
//   FILE                 in place: the complete original, the complete result, or absent; never half a file
//                        resumable sort: the output; what was there before, until the complete result replaces it
//   FILE.ecosort/        mode 0700
//     journal            written before anything is changed, removed last
//     input              in place: FILE itself, under way
//     run-000000 ...     run 0 is the tail of the input
//     output             becomes FILE
//     spare              in place: holds free space that is needed later
//   FILE.ecosort-done    for a moment, at the very end: the journal, so that a kill then differs from one at the beginning
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/errors.h"
#include "io/named_storage.h"

namespace ecosort::demsort_inplace {

inline constexpr io::Caching direct = io::Caching::direct_if_possible;  // of all files of a job

struct JobPaths {
  explicit JobPaths(const std::string& path);

  std::string file, parent;  // FILE and the directory it is in
  std::string directory;     // FILE.ecosort
  std::string journal, input, output, spare;
  std::string trace;  // FILE.ecosort-done
  [[nodiscard]] std::string run(std::uint64_t number) const;
};

// The files of a job while it is under way. Runs that are consumed may be missing.
struct JobFiles {
  io::FilePtr directory;  // its lock is the job's
  io::FilePtr journal, input, output, spare;
  std::vector<io::FilePtr> runs;
};

// A name that a job makes in its directory.
[[nodiscard]] bool is_name_of_job(const std::string& name);

// The name that FUSE or NFS gives a file that was removed while somebody had it open; it goes when no one has.
[[nodiscard]] bool is_rest_of_removed(const std::string& name);

// Says which names exist. `has_job`: the directory does.
struct Names {
  bool has_file = false, has_job = false, has_journal = false, has_input = false, has_trace = false;
  bool is_empty = true;  // the directory, but for rests of removed files
};
[[nodiscard]] Names look(io::NamedStorage& storage, const JobPaths& paths);

// A job cannot continue with this, but the user can help: the line says how.
struct JobRefused : UsageError {
  using UsageError::UsageError;
};

// A failure whose line says already what to do.
struct ExplainedIoError : IoError {
  using IoError::IoError;
};

// The names in it are looked up in this very directory as long as the File lives. Null: there is none.
[[nodiscard]] io::FilePtr open_directory(io::NamedStorage& storage, const JobPaths& paths);

// Only one process may work on a job. It has the directory locked, from before it looks at what is in it to the end; stores
// without descriptors have no other processes. Null: there is no directory. JobRefused if another process works on the job.
[[nodiscard]] io::FilePtr lock_directory(io::NamedStorage& storage, const JobPaths& paths);

// Returns whether another process has it at this moment.
[[nodiscard]] bool is_locked_by_another(const io::File& directory);

// Waits for requests of a killed process: each keeps the file open that it was for, and so this lock, until it is done.
void lock_journal(const io::File& journal, const JobPaths& paths);

// Someone may have moved the directory away all the same: IoError unless it is still under its name. Ahead of whatever works on
// names in it.
void check_directory(io::NamedStorage& storage, const JobPaths& paths, const io::File& directory);

// Returns whether a run or the output of the job has any bytes.
[[nodiscard]] bool holds_records(io::NamedStorage& storage, const JobPaths& paths);

// The name of the result may be taken by this when that gets it.
enum class Previous : std::uint8_t { none, replaced };

// Gives the result its name, unless an earlier attempt has: `from` is complete and durable, and missing only then. JobRefused if
// something else has the name and is not to be replaced.
void publish(io::NamedStorage& storage, const JobPaths& paths, const std::string& from, Previous previous);

// A file that somebody else may remove as well.
void remove_if_there(io::NamedStorage& storage, const std::string& path);

struct CleanUp {
  bool with_input = false;   // else `input` is not removed, but refused
  bool is_finished = false;  // the result has its name: a kill in the last moment is to be told from one in the first
};

// Removes the directory, which is this locked one, and what the job made in it, the journal last. None of these files is open in
// this process. Returns a notice where the directory has to stay for the moment, because others have removed files open; else
// nothing.
std::string clean_up(io::NamedStorage& storage, const JobPaths& paths, const io::File& directory, const CleanUp& how);
// The end of it: an empty directory, and the trace beside it if there is one. Returns the same.
std::string remove_last_traces(io::NamedStorage& storage, const JobPaths& paths);

}  // namespace ecosort::demsort_inplace
