// The tests of the resumable sort share small sorts of two files on a disk in memory, and what must come of them.
#pragma once

#include <memory>
#include <string>

#include "cpp/demsort_inplace/inplace_harness.h"

namespace ecosort::demsort_inplace {

inline const std::string sort_output = "/disk/out";
inline const std::string sort_directory = sort_output + ".ecosort";

// The records of a small in-place job, in two files of unlike sizes.
struct SmallSort {
  SmallJob job;
  bool keeps_runs = false;
  bool has_previous = false;  // the output's name is taken before
  bool reread = false;
  const char* compress = "none";

  [[nodiscard]] io::DiskImage disk() const;
  [[nodiscard]] JobHeader header() const;  // without inputs
  // The disk holds the inputs as they were, under the output's name this text (empty: nothing), and nothing else.
  [[nodiscard]] bool holds_only(const io::DiskImage& image, const std::string& output) const;
  // Likewise when the job was given up.
  [[nodiscard]] bool holds_given_up(const io::DiskImage& image) const { return holds_only(image, previous()); }
  [[nodiscard]] const char* name() const { return job.name; }
  [[nodiscard]] std::string sorted() const { return job.sorted(); }
  [[nodiscard]] std::string previous() const { return has_previous ? "what was there before" : ""; }
};

[[nodiscard]] std::vector<SmallSort> small_sorts();

// A storage with a queue, and what a sort in this process needs besides.
class SortMachine {
 public:
  SortMachine(io::NamedStorage& storage, io::Queue& queue) : storage_(storage), queue_(queue) {}

  engine::fixed::SortReport start(const SmallSort& sort);
  engine::fixed::SortReport resume(std::uint64_t memory_bytes = 0);  // 0: that of the job
  engine::fixed::SortReport abandon();
  // Records of the journal about runs that such a job leaves.
  [[nodiscard]] static std::uint64_t run_records(const engine::fixed::SortReport& report, const SmallSort& /*sort*/) {
    return report.runs;
  }
  [[nodiscard]] engine::Progress::Reading progress() const { return progress_.read(); }
  [[nodiscard]] JobStatus look() { return examine(sort_output, storage_, queue_); }

  std::atomic<int> interrupted = 0;
  bool trusts_drive = false;

 private:
  [[nodiscard]] JobContext environment() { return {storage_, queue_, progress_, log_, interrupted, trusts_drive}; }

  io::NamedStorage& storage_;
  io::Queue& queue_;
  engine::Progress progress_;
  engine::PhaseLog log_{""};
};

// The same on a disk in memory of its own.
struct SortDisk {
  explicit SortDisk(io::DiskImage image, const io::MemoryStore::Options& options = {})
      : store(std::move(image), options), queue(store.make_queue(MemoryMachine::queue_depth)), machine(store, *queue) {}

  io::MemoryStore store;
  std::unique_ptr<io::Queue> queue;
  SortMachine machine;
};

}  // namespace ecosort::demsort_inplace
