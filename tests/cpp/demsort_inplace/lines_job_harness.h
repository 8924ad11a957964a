// The tests of resumable sorts of lines share small sorts of a few files on a disk in memory, and what must come of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cpp/demsort_inplace/resumable_harness.h"
#include "demsort_inplace/row_files.h"
#include "demsort_inplace/rows_job.h"
#include "doubles/memory_store.h"

namespace ecosort::demsort_inplace {

// A sort of rows small enough for a power cut at each of its steps, large enough for several runs, merges and checkpoints.
struct SmallLines {
  const char* label = "";
  std::string command = "lines";
  std::vector<std::string> words = {};  // options of the command; of csv and jsonl, -u and the keys
  std::vector<std::string> inputs;      // contents of the files
  std::uint64_t run_buffer_bytes = std::uint64_t{24} * 1024;
  std::uint64_t interval_bytes = std::uint64_t{12} * 1024;
  std::uint64_t most_merged = 100;
  std::uint64_t run_places = 2;  // the journal grows by so many
  bool has_previous = false;     // the output's name is taken before
  bool reread = false;
  bool in_place = false;  // the only input has the output's name
  std::uint64_t block_bytes = 4096;
  std::string compress = "none";

  [[nodiscard]] const char* name() const { return label; }
  [[nodiscard]] std::string sorted() const;
  [[nodiscard]] std::string previous() const { return in_place ? inputs.front() : has_previous ? "what was there before" : ""; }
  [[nodiscard]] io::DiskImage disk() const;
  // The disk holds the inputs as they were, under the output's name this text (empty: nothing), and nothing else.
  [[nodiscard]] bool holds_only(const io::DiskImage& image, const std::string& output) const;
  // Likewise when the job was given up: in place all lines in any order, in as many bytes.
  [[nodiscard]] bool holds_given_up(const io::DiskImage& image) const;
  [[nodiscard]] engine::rows::LinesJob job(std::uint64_t more_memory = 0) const;  // without inputs
  [[nodiscard]] JobHeader header() const;                                         // likewise
  [[nodiscard]] std::uint64_t input_bytes() const;
  [[nodiscard]] std::uint64_t bound_bytes() const;  // in place: what the job may take on the disk
  [[nodiscard]] std::string top() const;            // what stays on top: a byte order mark, and rows
};

// Plain lines; keys and a header; equal lines; merges before the last one; lines longer than a block; no end of the last line;
// CSV whose quotes hold newlines, with headers and marks; JSON lines with a mark and blank lines; runs that are packed.
[[nodiscard]] const std::vector<SmallLines>& small_lines();

// Returns lines in place: plain ones without a last end; keys; lines longer than a block; one run; one line; very short ones.
// `most_merged` is the number of their runs.
[[nodiscard]] const std::vector<SmallLines>& small_lines_in_place();

// The n-th input's name.
[[nodiscard]] std::string lines_input(std::size_t number);

// A storage with a queue, and what a sort in this process needs besides.
class LinesMachine {
 public:
  LinesMachine(io::NamedStorage& storage, io::Queue& queue) : storage_(storage), queue_(queue) {}

  engine::rows::LinesReport start(const SmallLines& sort) { return start_with_memory(sort, 0); }
  // 0: what such a sort has.
  engine::rows::LinesReport start_with_memory(const SmallLines& sort, std::uint64_t memory_bytes);
  engine::rows::LinesReport resume(std::uint64_t more_memory = 0);
  engine::rows::LinesReport resume_with(engine::rows::LinesJob job, JobStatus status);
  engine::rows::LinesReport abandon();
  // Records of the journal about runs that such a job leaves.
  [[nodiscard]] static std::uint64_t run_records(const engine::rows::LinesReport& report, const SmallLines& sort) {
    return report.runs + report.merges + (sort.top().empty() ? 0 : 1);
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
struct LinesDisk {
  explicit LinesDisk(io::DiskImage image, const io::MemoryStore::Options& options = {})
      : store(std::move(image), options), queue(store.make_queue(MemoryMachine::queue_depth)), machine(store, *queue) {}

  io::MemoryStore store;
  std::unique_ptr<io::Queue> queue;
  LinesMachine machine;
};

}  // namespace ecosort::demsort_inplace
