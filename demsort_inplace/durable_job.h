// The state machine of a job that outlives a crash: the same for records and rows, in place and beside their inputs.
//
//   begin       nothing  --create-->  begun
//   continue    what the journal says  --open-->  begun, formed, or merged in part
//               complete  --recheck-->  complete
//   both        begun  --form-->  formed  --merge-->  merged  --reread-->  complete  --publish-->  the result has its name
//
// The journal has a record for each state, and for each run and checkpoint on the way, so that a crash leaves one of them. A
// kernel moves the bytes of its kind of job from one state to the next. An abandoned job is a job, too: its kernel (put_back.h,
// put_back_lines.h) puts the runs one behind the other instead of merging them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "demsort_inplace/job_bench.h"

namespace ecosort::demsort_inplace {

// Coordinator only.
class JobKernel {
 public:
  // `result` is the file in the job directory that gets the name in the end, `last` the state in which it does.
  JobKernel(JobBench& bench, std::string path, State::Kind kind) : job_bench(bench), result(std::move(path)), last(kind) {}
  JobKernel(const JobKernel&) = delete;
  JobKernel& operator=(const JobKernel&) = delete;
  virtual ~JobKernel() = default;

  // Reports to the progress what the whole job moves, and what of that was done before; `recheck` bytes are read again first.
  virtual void plan_progress(std::uint64_t recheck) = 0;
  // Makes the journal, all files and their space, and in place takes FILE last. A failure is undone by the caller.
  [[nodiscard]] virtual Task<void> create();
  // Makes the name durable under which FILE was taken.
  virtual void sync_taken() {}
  // Opens what the journal names, compares all lengths, reads the result again (recheck()), and only then brings every file to
  // the length that the journal gives it.
  [[nodiscard]] virtual Task<void> open() = 0;
  // Compares what the file holds with what the journal says of the result: throws OutputChanged (recheck.h).
  [[nodiscard]] virtual Task<void> recheck(const io::File& file) = 0;
  // Returns how many bytes recheck() reads: none where there is no state yet, or the drive is trusted.
  [[nodiscard]] virtual std::uint64_t recheck_bytes() const = 0;
  // Forms the runs that the journal does not know.
  [[nodiscard]] virtual bool is_formed() const { return true; }
  [[nodiscard]] virtual Task<void> form();
  // Brings the runs into the result, and returns the last state, whose sums are those of the runs: else VerificationError.
  [[nodiscard]] virtual Task<State> merge() = 0;
  // Reads the complete result back from the device; 0 bytes: it does not. Throws where it is not what was written.
  [[nodiscard]] virtual std::uint64_t reread_bytes(const State& /*state*/) const { return 0; }
  [[nodiscard]] virtual Task<void> reread(const State& state);
  // Returns the exact length of the complete result.
  [[nodiscard]] virtual std::uint64_t result_bytes(const State& state) const = 0;

  // The result is open.
  [[nodiscard]] io::File& file() const {
    return result == job_bench.paths.input ? *job_bench.files.input : *job_bench.files.output;
  }

  JobBench& job_bench;
  const std::string result;
  const State::Kind last;
};

// Both bring a job to its end: the result is durable and has its name, the rest is removed. Until begin_job() has created the job
// a failure leaves nothing behind; from then on it can be continued, whatever is thrown.
void begin_job(JobKernel& kernel);
void continue_job(JobKernel& kernel);

// Refuses a result that is not what was written to it, when it was read back.
[[noreturn]] void refuse_reread(const JobBench& bench);

// Ends a job in place that has taken nothing from its input, which had so many bytes: it gets its name back as it is. A notice
// says so where it is not as long as it was.
void give_back_input(JobKernel& kernel, std::uint64_t bytes);

// Removes a job whose input is another file, or whose result is gone, and all that it made. The journal says so first: from then
// on no one looks for the runs.
void remove_job(JobBench& bench);

}  // namespace ecosort::demsort_inplace
