// The real file systems behind seam 2 (io/storage.h, io/named_storage.h).
#pragma once

#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "io/held_directories.h"
#include "io/named_storage.h"
#include "io/reopened_files.h"

namespace ecosort::io {

// Finds where an output really goes: symbolic links in the last component are followed, so that a link's target is replaced, not
// the link. Throws UsageError if something other than a regular file is there (a directory, a device, a FIFO).
struct OutputPlace {
  std::string path;       // of the file to create or replace
  std::string directory;  // where its temporary file must be created
  bool exists;
};
[[nodiscard]] OutputPlace resolve_output(const std::string& path);

// resolve_output() and check_no_job(). publish() begins with it.
[[nodiscard]] OutputPlace resolve_free_output(const std::string& path);

// "-" leads to these.
struct StandardStreams {
  int input = STDIN_FILENO, output = STDOUT_FILENO;
  int input_complete = -1;  // a pipe: the program that writes the input puts a byte there when it has written everything
};

class PosixStorage : public NamedStorage {
 public:
  // `never` behaves as on a file system that lacks O_TMPFILE.
  enum class Unnamed : std::uint8_t { if_possible, never };
  explicit PosixStorage(Unnamed unnamed = Unnamed::if_possible) : unnamed_(unnamed) {}
  explicit PosixStorage(StandardStreams streams) : unnamed_(Unnamed::if_possible), streams_(streams) {}

  [[nodiscard]] const StandardStreams& streams() const noexcept { return streams_; }

  // Returns whether create_unnamed() makes files without any name in `directory`; else an output would have a temporary name
  // there that a SIGKILL leaves behind. Tries it; throws as create_unnamed() does.
  [[nodiscard]] bool has_unnamed_files(const std::string& directory);

  // Called before the first wait of some length for space of this file's file system. From any thread that reserves.
  void on_wait_for_space(std::function<void(const File&)> tell) { on_wait_ = std::move(tell); }

  [[nodiscard]] FilePtr open_input(const std::string& path, Caching caching) override;
  [[nodiscard]] FilePtr create_unnamed(const std::string& directory, Role role, Caching caching) override;
  [[nodiscard]] FilePtr open_standard_output() override;
  [[nodiscard]] bool reserve(File& file, std::uint64_t offset, std::uint64_t size_bytes) override;
  [[nodiscard]] bool wait_for_space(const File& file, unsigned attempt) override;
  void set_size(File& file, std::uint64_t size_bytes) override;
  void sync(File& file) override;
  [[nodiscard]] std::string publish(File& file, const std::string& final_path, const BeforeStep& before_step = {}) override;
  [[nodiscard]] std::string publish_all(const std::vector<Named>& files) override;
  void demand_complete_input() override;
  void close(FilePtr file) override;
  [[nodiscard]] FileState state(const File& file) override;
  [[nodiscard]] std::uint64_t free_bytes(const std::string& directory) override;
  [[nodiscard]] std::uint64_t settled_free_bytes(const std::string& directory, std::uint64_t wanted_bytes) override;

  [[nodiscard]] FilePtr create_named(const std::string& path, Role role, Caching caching) override;
  [[nodiscard]] FilePtr open_named(const std::string& path, Role role, Caching caching) override;
  [[nodiscard]] std::string adopt_attributes(File& file, const std::string& of) override;
  void rename(const std::string& from, const std::string& to) override;
  void rename_new(const std::string& from, const std::string& to) override;
  void remove(const std::string& path) override;
  void make_directory(const std::string& path) override;
  void remove_directory(const std::string& path) override;
  void sync_directory(const std::string& path) override;
  [[nodiscard]] FilePtr open_directory(const std::string& path) override;
  [[nodiscard]] bool leads_to(const std::string& path, const File& directory) override;
  [[nodiscard]] std::vector<std::string> list(const std::string& directory) override;
  [[nodiscard]] bool exists(const std::string& path) override;

 private:
  [[nodiscard]] FilePtr make_file(Descriptor descriptor, File::Facts facts);
  // The file can be opened again by its name.
  [[nodiscard]] FilePtr make_reopened_file(Descriptor descriptor, File::Facts facts);
  [[nodiscard]] FilePtr make_named_file(Descriptor descriptor, File::Facts facts);
  [[nodiscard]] FilePtr open_standard_input(Caching caching);
  [[nodiscard]] FilePtr describe_input(Descriptor descriptor, File::Facts facts, Caching caching);
  [[nodiscard]] FilePtr create_with_temporary_name(const std::string& directory, Role role, Caching caching);

  const Unnamed unnamed_;
  HeldDirectories held_;
  const std::shared_ptr<ReopenedFiles> reopened_ = std::make_shared<ReopenedFiles>();
  std::function<void(const File&)> on_wait_;
  const StandardStreams streams_;
  bool reads_input_ = false, is_known_complete_ = false;
  std::atomic<std::uint64_t> opened_{0};
};

}  // namespace ecosort::io
