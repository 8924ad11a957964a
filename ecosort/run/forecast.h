// The forecast: with which key blocks of runs begin, so that a merge knows in which order it will need them (forecasting; Knuth
// 5.4.9). Of records of fixed size.
//
// There is a table with all keys of all runs; or, where runs keep their keys on the drive and memory is scarce, a window of each
// run's table, which moves with the merge:
//
//   keys of a run, on the drive   . . . . [first that the merge has not in memory . . . next block ...] . . . . .
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/task.h"
#include "formats/records/encoder.h"
#include "planner/plan.h"
#include "run/shared_key.h"

namespace ecosort::run {

// Reads keys of runs from where they are kept. Coordinator only.
class KeySource {
 public:
  KeySource() = default;
  KeySource(const KeySource&) = delete;
  KeySource& operator=(const KeySource&) = delete;
  virtual ~KeySource() = default;

  // Returns those of `count` entries of a run from entry `first` on, as unshared_keys() gave them.
  [[nodiscard]] virtual Task<std::vector<ForecastKey>> read(std::size_t run, std::uint64_t first, std::uint64_t count) = 0;
};

// Changed by the coordinator while runs are formed; shared_key() from any thread once they are, and at() where there are no
// windows.
class Forecast {
 public:
  explicit Forecast(const planner::RecordPlan& plan);

  // The next run, of so many run blocks. UsageError where a stream of unknown size has become too long for the table.
  void add_run(std::uint64_t run_blocks);
  void drop_run(std::size_t run);  // no one needs it any more
  // A run that was dropped lies somewhere else, in so many blocks. Of inputs of known size.
  void renew_run(std::size_t run, std::uint64_t run_blocks);

  // Keeps the key of every so many run blocks. While a stream of unknown size comes in that grows, so that the table does not.
  [[nodiscard]] std::uint32_t stride() const noexcept { return stride_; }
  // Once the stream has ended the merge is planned with the stride that is returned, which stays: blocks are multiples of it.
  std::uint32_t fix_stride() noexcept {
    stride_is_fixed_ = true;
    return stride_;
  }

  // Every run, stored or not, is taken in (shared_key.h) before keys of it are noted.
  void take_in_keys(const records::Encoder& encoder, std::span<const std::byte* const> sample);
  void take_in_unknown(const records::Encoder& encoder);  // a run of which nothing is known: keys are at depth 0 from now on
  [[nodiscard]] const SharedKey& shared_key() const noexcept { return shared_key_; }

  // Notes with which record a run block begins, if it is a multiple of the stride.
  void set(std::size_t run, std::uint64_t run_block, const records::Encoder& encoder, const std::byte* first);
  // Keeps a key that was noted for the block before (unshared_keys()), once take_in_unknown() was called.
  void set(std::size_t run, std::uint64_t run_block, ForecastKey key);
  // All keys are equal from now on.
  void forget_keys() noexcept { are_equal_ = true; }

  // Keys are kept in `source`, which outlives this: a window of those of each run is in memory. Before there are any runs.
  void read_from(KeySource& source) noexcept { source_ = &source; }
  // The keys of a run, which were noted, are kept there.
  void keep_window(std::size_t run);
  // Returns whether the key of a run block is in memory, if there is such a block.
  [[nodiscard]] bool knows(std::size_t run, std::uint64_t run_block) const;
  // Returns how far ahead of the block that is read next keys are to be known, in entries.
  [[nodiscard]] std::uint64_t lead() const noexcept { return window_ / 2; }
  // Drops the keys in front of run block `from`, and reads more behind those that are known. One call at a time for a run.
  [[nodiscard]] Task<void> move_window(std::size_t run, std::uint64_t from);

  // The keys of a run as a process finds them that knows nothing of the runs.
  [[nodiscard]] std::vector<ForecastKey> unshared_keys(std::size_t run, const records::Encoder& encoder) const;
  // Returns the key of a run block that is a multiple of the stride.
  [[nodiscard]] ForecastKey at(std::size_t run, std::uint64_t run_block) const {
    return are_equal_ ? ForecastKey{} : runs_[run].keys[run_block / stride_ - runs_[run].first];
  }
  [[nodiscard]] std::span<const ForecastKey> keys(std::size_t run) const { return runs_[run].keys; }

 private:
  struct Keys {
    std::uint64_t entries = 0;
    std::uint64_t first = 0;        // entry
    std::vector<ForecastKey> keys;  // from that on; counted memory
  };

  void thin();
  void move_keys(const records::Encoder& encoder, std::uint64_t depth);

  std::uint32_t stride_;
  bool stride_is_fixed_;
  std::uint64_t most_entries_;  // until the stride is fixed
  std::uint32_t most_stride_;   // likewise
  std::uint64_t memory_bytes_;  // for a message
  std::uint64_t entries_ = 0;
  const std::uint64_t window_;  // entries; 0: all
  KeySource* source_ = nullptr;
  bool are_equal_ = false;
  std::vector<Keys> runs_;
  SharedKey shared_key_;
};

}  // namespace ecosort::run
