// Several outputs that appear together. While they are written they lie in a directory beside them, each complete one under the
// name that it will have:
//
//   DIR/out-{}.csv.split/   lock | out-a.csv | out-b.csv | ...      one is open at a time
//   DIR/                    out-a.csv | out-b.csv | out-manifest.json
//
// When all are complete, verified and durable, a manifest of an earlier run goes, the files are moved, and then the manifest
// comes: where it is there, so are all of the files that it lists. What ends the work before leaves the directory at most, which
// the next sort to the same names clears; a lock says whether someone is at work there.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "hash/multiset_hash.h"
#include "io/named_storage.h"
#include "io/plain_file.h"

namespace ecosort::engine::rows {

// DIRECTORY/BEFORE{}BEHIND.
struct SplitNames {
  std::string directory, before, behind;

  [[nodiscard]] std::string path(const std::string& name) const { return directory + "/" + name; }
  [[nodiscard]] std::string pattern() const { return before + "{}" + behind; }
};

struct SplitFile {
  std::string name;
  std::uint64_t rows = 0, bytes = 0;
};

// Coordinator only.
class SplitFiles {
 public:
  // Makes the directory, and clears what was left in it. No file takes the place of one of `inputs`. IoError, NameError;
  // UsageError where someone else is at work there.
  SplitFiles(io::NamedStorage& storage, SplitNames names, std::set<io::FileNumber> inputs);
  SplitFiles(const SplitFiles&) = delete;
  SplitFiles& operator=(const SplitFiles&) = delete;
  ~SplitFiles();  // removes what was not published

  // A file whose name has this in the place of {}. UsageError where the split has one of this name, an input has it, or there are
  // too many.
  [[nodiscard]] io::FilePtr create(const std::string& value);
  // It has all its bytes and is durable.
  void complete(io::FilePtr file, std::uint64_t rows, std::uint64_t bytes);
  [[nodiscard]] const std::vector<SplitFile>& files() const noexcept { return files_; }

  // Gives all of them their names. Returns what a user should know; may be empty.
  [[nodiscard]] std::string publish(const std::string& split, const hash::MultisetHash& rows);

 private:
  [[nodiscard]] std::string staged(const std::string& name) const { return stage_ + "/" + name; }
  void take_stage();
  void clear_stage();
  void add_notice(const std::string& text);
  void demand_replaceable(const std::string& path) const;
  [[nodiscard]] std::vector<std::string> files_before() const;
  void tell_of_files_before();
  void write_manifest(const std::string& split, const hash::MultisetHash& rows);

  io::NamedStorage& storage_;
  const SplitNames names_;
  const std::set<io::FileNumber> inputs_;
  const std::string stage_, manifest_;
  io::FilePtr lock_;
  std::vector<SplitFile> files_;
  std::set<std::string> known_;
  std::vector<std::string> before_;  // files of an earlier split of these names
  std::string notice_;
};

}  // namespace ecosort::engine::rows
