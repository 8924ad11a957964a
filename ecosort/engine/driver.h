// The one sort: which phase follows which, and what is the same in each whatever the records are. A kernel has what is not.
//
//   open the output | form runs | merge groups of runs until one merge takes all that are left | merge to the output | verify |
//   sync | read back | publish
//
// Kernels: engine/fixed/sort.cpp (records), engine/fixed/merge_files.cpp (sorted files of records), engine/rows/lines_sort.cpp
// (rows of any length, and sorted files of them).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/task.h"
#include "engine/bench.h"
#include "engine/claim.h"
#include "engine/work_report.h"
#include "hash/multiset_hash.h"

namespace ecosort::engine {

// A phase, and what it moves: as Progress::begin() has it.
struct Step {
  const char* name = "";
  std::uint64_t bytes = 0, share = 0;
};

// Proves what came in, and what goes out or was dropped (promise P1). `expected`: how many came in, where that is known
// beforehand.
struct Proof {
  hash::MultisetHash in, out;
  std::optional<std::uint64_t> expected = std::nullopt;
};

// A sort does this for its kind of records. Coordinator only; the functions are called in their order.
class Kernel {
 public:
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;

  // "records".
  [[nodiscard]] virtual const char* items() const noexcept = 0;
  // Before open(): the most that the output takes; UINT64_MAX: no one knows.
  [[nodiscard]] virtual std::uint64_t most_output_bytes() const { return UINT64_MAX; }
  // Nothing is read yet. Nothing: the inputs are sorted, so that no runs are formed. `output` outlives this.
  [[nodiscard]] virtual std::optional<Step> open(io::File& output) = 0;
  [[nodiscard]] virtual Task<void> form_runs() = 0;
  // All inputs were read: IoError where one is not what it was, and a notice for the user, or nothing. May be called again.
  [[nodiscard]] virtual std::string check_inputs() = 0;
  // After form_runs(): whether merges read parts of the inputs, which were in order.
  [[nodiscard]] virtual bool reads_inputs_again() const { return false; }
  // The next group of runs that become one. Nothing: one merge takes all that there are.
  [[nodiscard]] virtual std::optional<Step> next_group() = 0;
  [[nodiscard]] virtual Task<void> merge_group() = 0;
  // Nothing: there are no records.
  [[nodiscard]] virtual std::optional<Step> last_merge() = 0;
  [[nodiscard]] virtual Task<void> merge_to_output() = 0;
  // Says what goes out behind the merged records as it is. Nothing: there is none.
  [[nodiscard]] virtual std::optional<Step> rest() { return std::nullopt; }
  [[nodiscard]] virtual Task<void> append_rest() { co_return; }
  [[nodiscard]] virtual Proof proof() const = 0;
  // Writes what is left, and gives the output its exact size.
  [[nodiscard]] virtual Task<void> complete_output() = 0;
  // Returns what reread() would read of an output that is no stream.
  [[nodiscard]] virtual std::uint64_t written_bytes() const = 0;
  // Describes the output, which is complete, for its claim.
  [[nodiscard]] virtual OutputContents contents() const = 0;
  // Returns whether the device gives back what was written, in order.
  [[nodiscard]] virtual Task<bool> reread() = 0;
  // Gives outputs of the kernel's own their names, in place of the driver's. Nothing: there are none; else what a user should
  // know.
  [[nodiscard]] virtual std::optional<std::string> publish_own() { return std::nullopt; }
  // Files besides the output, complete and durable, which get their names ahead of it.
  [[nodiscard]] virtual std::vector<io::Storage::Named> further_outputs() { return {}; }
  // The report, with all that the driver does not know; of the memory, what is not of the bench.
  [[nodiscard]] virtual WorkReport& sum_up() = 0;
  // The sort failed: what must end before anything is destroyed.
  virtual void give_up() noexcept {}
};

// Coordinator only. What it is given outlives it.
class Driver {
 public:
  Driver(Bench& bench, Kernel& kernel, const std::string& output, bool reread, ClaimText claim)
      : bench_(bench),
        kernel_(kernel),
        path_(output),
        reread_(reread),
        claim_(std::move(claim)),
        claim_file_(bench, output),
        main_(bench.reactor.scope()) {}

  // Until the output has its name. Throws what sort() of engine/fixed/sort.h says.
  void run();

 private:
  Task<void> sort();
  Task<void> merge_runs();
  Task<void> sync();
  Task<void> reread();
  void verify() const;
  void publish();
  [[nodiscard]] bool is_stream() const noexcept { return output_->facts().is_stream; }

  Bench& bench_;
  Kernel& kernel_;
  const std::string path_;  // "-": standard output
  const bool reread_;
  const ClaimText claim_;
  ClaimFile claim_file_;
  io::FilePtr output_;
  std::string notice_;
  TaskGroup main_;
};

// Sorts with a kernel for `job`, which has an `output` and perhaps is to `reread` it; returns the kernel's report.
template <class TheKernel, class Job>
auto drive(Job& job, const Environment& environment) {
  struct Everything {
    Everything(Job& what, const Environment& where)
        : bench(where, TheKernel::size_of(what)),
          kernel(what, bench),
          driver(bench, kernel, what.output, what.reread, what.claim) {}
    Bench bench;
    TheKernel kernel;
    Driver driver;
  };
  return keep_where_queue_breaks(std::make_unique<Everything>(job, environment), [](Everything& all) {
    all.driver.run();
    return std::move(all.kernel.report);
  });
}

}  // namespace ecosort::engine
