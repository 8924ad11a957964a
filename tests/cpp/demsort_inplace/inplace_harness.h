// The tests of the in-place sort share small jobs on a disk in memory, and what must come of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "cpp/engine/fixed/sort_harness.h"
#include "demsort_inplace/records_job.h"
#include "doubles/memory_store.h"

namespace ecosort::demsort_inplace {

inline const std::string job_file = "/disk/data";

// A job small enough for a power cut at each of its steps, large enough for several runs and checkpoints.
struct SmallJob {
  const char* name = "";
  records::RecordFormat format;
  engine::fixed::Keys keys = engine::fixed::Keys::uniform;
  std::uint64_t records = 0;
  std::uint64_t piece_records = 0;
  std::uint32_t run_block_bytes = 4096;
  std::uint64_t interval_bytes = std::uint64_t{32} * 1024;
  std::uint64_t memory_bytes = planner::least_memory_bytes;
  std::uint64_t unit = page_bytes;
  bool reread = false;
  bool describes_runs = true;
  bool reads_keys = false;  // by windows of two, while it merges single run blocks

  [[nodiscard]] JobHeader header() const;
  // Returns what the job may take on the disk: a store with no more suffices.
  [[nodiscard]] std::uint64_t bound_bytes() const { return header().layout.total_bytes() + Journal::size_bytes(header()); }
  [[nodiscard]] const std::string& input() const;
  [[nodiscard]] const std::string& sorted() const;
  [[nodiscard]] io::DiskImage disk() const { return io::make_image({{job_file, input()}}); }
};

// Record sizes that divide neither a block nor a run block, and one that does; ties; one run; a record larger than a block;
// pieces and a file that end with a block; a file system of larger blocks.
[[nodiscard]] const std::vector<SmallJob>& small_jobs();

// The plan of a job, as its header asks for it.
[[nodiscard]] planner::RecordPlan plan_of(const JobHeader& header, std::uint64_t memory_bytes);

// A storage with a queue, and what a job in this process needs besides.
class JobMachine {
 public:
  JobMachine(io::NamedStorage& storage, io::Queue& queue) : storage_(storage), queue_(queue) {}

  [[nodiscard]] JobContext environment() {
    return {storage_, queue_, progress_, log_, interrupted, trusts_drive, only_completes};
  }
  engine::fixed::SortReport start(const SmallJob& job);
  // `memory_bytes`: 0 for that of the job.
  engine::fixed::SortReport resume(std::uint64_t memory_bytes = 0);
  engine::fixed::SortReport abandon();
  [[nodiscard]] engine::Progress::Reading progress() const { return progress_.read(); }
  [[nodiscard]] JobStatus::Kind kind() { return examine(job_file, storage_, queue_).kind; }

  std::atomic<int> interrupted = 0;
  bool trusts_drive = false, only_completes = false;

 private:
  io::NamedStorage& storage_;
  io::Queue& queue_;
  engine::Progress progress_;
  engine::PhaseLog log_{""};
};

// The same on a disk in memory of its own.
struct MemoryMachine {
  explicit MemoryMachine(io::DiskImage image, const io::MemoryStore::Options& options = {})
      : store(std::move(image), options), queue(store.make_queue(queue_depth)), machine(store, *queue) {}

  static constexpr unsigned queue_depth = 40;
  io::MemoryStore store;
  std::unique_ptr<io::Queue> queue;
  JobMachine machine;
};

// Returns whether the disk holds FILE with these contents and nothing else.
[[nodiscard]] bool holds_only(const io::DiskImage& image, const std::string& contents);
// Returns one of the runs that the journal of the file's job has, whose file is there and does not say what the journal says;
// else empty. That may be relied on after a cut: a run is described as long as there is anything of it.
[[nodiscard]] std::string undescribed_run(const io::DiskImage& image, const std::string& file, const JournalContents& contents);

[[nodiscard]] std::string text_of(const io::PagedBytes& contents);
[[nodiscard]] bool have_same_files(const io::DiskImage& a, const io::DiskImage& b);
// One bit of it.
void flip_byte(io::PagedBytes& contents, std::uint64_t at);

// The records in byte order: what two files must agree in that hold the same records.
[[nodiscard]] std::string as_multiset(const std::string& records, std::uint32_t record_size);

}  // namespace ecosort::demsort_inplace
