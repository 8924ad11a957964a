// The forecast: with which key blocks of runs begin, so that a merge knows in which order it will need them (forecasting; Knuth
// 5.4.9). Of records of fixed size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/records/encoder.h"
#include "planner/plan.h"
#include "run/shared_key.h"

namespace ecosort::run {

// Changed by the coordinator while runs are formed; at() and shared_key() from any thread once they are.
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
  void set(std::size_t run, std::uint64_t run_block, ForecastKey key) { runs_[run][run_block / stride_] = key; }
  // The keys of a run as a process finds them that knows nothing of the runs.
  [[nodiscard]] std::vector<ForecastKey> unshared_keys(std::size_t run, const records::Encoder& encoder) const;
  // Returns the key of a run block that is a multiple of the stride.
  [[nodiscard]] ForecastKey at(std::size_t run, std::uint64_t run_block) const { return runs_[run][run_block / stride_]; }
  [[nodiscard]] std::span<const ForecastKey> keys(std::size_t run) const { return runs_[run]; }

 private:
  void thin();
  void move_keys(const records::Encoder& encoder, std::uint64_t depth);

  std::uint32_t stride_;
  bool stride_is_fixed_;
  std::uint64_t most_entries_;  // until the stride is fixed
  std::uint32_t most_stride_;   // likewise
  std::uint64_t memory_bytes_;  // for a message
  std::uint64_t entries_ = 0;
  std::vector<std::vector<ForecastKey>> runs_;  // counted memory
  SharedKey shared_key_;
};

}  // namespace ecosort::run
