#include "demsort_inplace/job_directory.h"

#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/text.h"
#include "engine/claim.h"

namespace ecosort::demsort_inplace {

namespace {

[[nodiscard]] bool is_ours(const std::string& name) {
  return name == "output" || name == "spare" ||
         (name.starts_with("run-") && name.find_first_not_of("0123456789", 4) == std::string::npos);
}

}  // namespace

bool is_rest_of_removed(const std::string& name) { return name.starts_with(".fuse_hidden") || name.starts_with(".nfs"); }

bool is_name_of_job(const std::string& name) { return is_ours(name) || name == "journal" || name == "input"; }

JobPaths::JobPaths(const std::string& path)
    : file(path),
      parent(directory_of(path)),
      directory(job_directory_of(path)),
      journal(directory + "/journal"),
      input(directory + "/input"),
      output(directory + "/output"),
      spare(directory + "/spare"),
      trace(directory + "-done") {}

std::string JobPaths::run(std::uint64_t number) const { return fmt::format("{}/run-{:06}", directory, number); }

Names look(io::NamedStorage& storage, const JobPaths& paths) {
  Names names{.has_file = storage.exists(paths.file),
              .has_job = storage.exists(paths.directory),
              .has_trace = storage.exists(paths.trace)};
  if (!names.has_job) return names;
  names.has_journal = storage.exists(paths.journal);
  names.has_input = storage.exists(paths.input);
  names.is_empty = std::ranges::all_of(storage.list(paths.directory), is_rest_of_removed);
  return names;
}

namespace {

// To be closed meanwhile would end the lock.
[[nodiscard]] bool is_locked_now(const io::File& file) {
  file.hold();
  return file.fd() < 0 || ::flock(file.fd(), LOCK_EX | LOCK_NB) == 0;
}

template <class Try>
bool is_done_in_a_moment(const Try& is_done) {
  constexpr int attempts = 100;
  for (int i = 0; i < attempts; ++i) {
    if (is_done()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

// Somebody who is killed lets go of a lock after a moment.
template <class Try>
void try_for_a_moment(const JobPaths& paths, const Try& is_done) {
  if (!is_done_in_a_moment(is_done)) throw JobRefused(fmt::format("another process is working on the job of '{}'", paths.file));
}

}  // namespace

io::FilePtr open_directory(io::NamedStorage& storage, const JobPaths& paths) {
  try {
    return storage.open_directory(paths.directory);
  } catch (const UsageError&) {
    if (storage.exists(paths.directory)) throw;
    return nullptr;
  }
}

// Between opening and locking it another process may have removed it, or even made it anew.
io::FilePtr lock_directory(io::NamedStorage& storage, const JobPaths& paths) {
  io::FilePtr directory;
  try_for_a_moment(paths, [&] {
    directory = open_directory(storage, paths);
    return !directory || (is_locked_now(*directory) && storage.leads_to(paths.directory, *directory));
  });
  return directory;
}

bool is_locked_by_another(const io::File& directory) {
  if (directory.fd() < 0) return false;
  if (::flock(directory.fd(), LOCK_EX | LOCK_NB) != 0) return true;
  ::flock(directory.fd(), LOCK_UN);
  return false;
}

void lock_journal(const io::File& journal, const JobPaths& paths) {
  try_for_a_moment(paths, [&] { return is_locked_now(journal); });
}

void check_directory(io::NamedStorage& storage, const JobPaths& paths, const io::File& directory) {
  if (storage.leads_to(paths.directory, directory)) return;
  throw IoError(fmt::format("'{}' was moved away or replaced by somebody else; put it back", paths.directory));
}

void remove_if_there(io::NamedStorage& storage, const std::string& path) {
  try {
    storage.remove(path);
  } catch (const UsageError&) {
    if (storage.exists(path)) throw;
  }
}

bool holds_records(io::NamedStorage& storage, const JobPaths& paths) {
  for (const std::string& name : storage.list(paths.directory)) {
    if (!is_ours(name) || name == "spare") continue;
    const io::FilePtr file = storage.open_input(paths.directory + "/" + name, io::Caching::buffered);
    if (storage.state(*file).size_bytes > 0) return true;
  }
  return false;
}

namespace {

// The system decides that nothing is there: a look beforehand might be too early.
void give_name(io::NamedStorage& storage, const JobPaths& paths, const std::string& from, Previous previous) {
  if (previous == Previous::replaced) return storage.rename(from, paths.file);
  try {
    storage.rename_new(from, paths.file);
  } catch (const IoError& error) {
    if (error.error_number() != EEXIST) throw;
    throw JobRefused(fmt::format("'{}' exists, although its contents are in '{}'; move it away, then run: ecosort resume {}",
                                 paths.file, from, paths.file));
  }
}

}  // namespace

// The new name must be durable before clean_up() removes the journal, which says what the file is under its old one. The other
// directory is synced there, before the journal goes.
void publish(io::NamedStorage& storage, const JobPaths& paths, const std::string& from, Previous previous) {
  const bool has_result = storage.exists(from), has_file = storage.exists(paths.file);
  if (!has_result && !has_file)
    throw ExplainedIoError(fmt::format(
        "'{0}' is missing, and so is '{1}', which its contents were in; put one of them back, or give the job up: ecosort "
        "resume --abandon {0}",
        paths.file, from));
  if (has_result && from != paths.input) engine::take_claim_away(storage, paths.file);
  if (has_result) give_name(storage, paths, from, previous);
  storage.sync_directory(paths.parent);
}

namespace {

// FUSE and NFS learn of a close later than the call returns.
bool remove_directory(io::NamedStorage& storage, const JobPaths& paths) {
  return is_done_in_a_moment([&] {
    try {
      storage.remove_directory(paths.directory);
      return true;
    } catch (const IoError& error) {
      if (error.error_number() != ENOTEMPTY) throw;
      const std::vector<std::string> names = storage.list(paths.directory);
      if (!std::ranges::all_of(names, is_rest_of_removed)) throw;
      return false;
    }
  });
}

}  // namespace

// The journal says what the other names mean, so it outlives them. An empty directory alone would be a beginning.
std::string clean_up(io::NamedStorage& storage, const JobPaths& paths, const io::File& directory, const CleanUp& how) {
  check_directory(storage, paths, directory);
  const std::vector<std::string> names = storage.list(paths.directory);
  for (const std::string& name : names)
    if (name != "journal" && !is_ours(name) && !(how.with_input && name == "input") && !is_rest_of_removed(name))
      throw JobRefused(fmt::format("'{}/{}' does not belong to the job; move it away, then run: ecosort resume {}",
                                   paths.directory, name, paths.file));
  for (const std::string& name : names)
    if (name != "journal" && !is_rest_of_removed(name)) storage.remove(paths.directory + "/" + name);
  storage.sync_directory(paths.directory);
  const bool leaves_trace = how.is_finished && storage.exists(paths.journal);
  if (leaves_trace)
    storage.rename(paths.journal, paths.trace);
  else if (storage.exists(paths.journal))
    storage.remove(paths.journal);
  return remove_last_traces(storage, paths);
}

std::string remove_last_traces(io::NamedStorage& storage, const JobPaths& paths) {
  const bool is_removed = remove_directory(storage, paths);
  if (is_removed) remove_if_there(storage, paths.trace);
  storage.sync_directory(paths.parent);
  if (is_removed) return {};
  return fmt::format(
      "'{}' holds files that were removed while another program has them open; when it has ended: ecosort resume {}",
      paths.directory, paths.file);
}

}  // namespace ecosort::demsort_inplace
