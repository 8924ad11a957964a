// The run store: sorted runs in unnamed files, striped over the temporary directories (the application's own RAID-0).
//
//   run file       | run block 0 | run block 1 | ... |           each `run_block.bytes` long, a multiple of 4096
//   run block      | record | record | ... | zeros | trailer |   whole records (run_block.h)
//   stripes        unit u of a run lies in directory pattern[u mod 64], so that fuller directories get less
//   backward       run block g lies g run blocks before the end of the file: what the merge has consumed can be cut off
//
// A run block whose checksum fails ends the run with IoError and never becomes output (promise P11). One file per run and
// directory: giving back space locks a file against its own reads only.
// Coordinator only, except seal() and verify(), which the compute threads call on run blocks they own, and forecast() and
// shared_key() once the runs are formed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/memory.h"
#include "formats/fixed/encoder.h"
#include "io/reactor.h"
#include "io/storage.h"
#include "plan/plan.h"
#include "run/shared_key.h"

namespace ecosort::engine {

// Which end of its file a run begins at.
enum class RunDirection : std::uint8_t { forward, backward };

struct StoredRun {
  std::vector<io::FilePtr> stripes;  // one per temporary directory
  std::uint64_t seed = 0;
  std::uint64_t records = 0;
  std::uint64_t run_blocks = 0;
  std::uint64_t first_run_block = 0;  // those before are gone: the run is the rest of a longer one
  std::uint64_t released_bytes = 0;   // from the start of the run
  unsigned releases = 0;              // under way
  bool consumed = false;              // to be closed when no release is under way
  std::vector<ForecastKey> forecast;  // of every forecast_stride-th run block; counted memory
};

class RunStore {
 public:
  RunStore(io::Storage& storage, io::Reactor& reactor, const planner::Plan& plan, std::vector<std::string> directories);

  // For runs that outlive the process: one directory, files of the caller's, one for each run, in a direction. `job` identifies
  // the job's run blocks.
  RunStore(io::Storage& storage, io::Reactor& reactor, const planner::Plan& plan, std::string directory, RunDirection direction,
           std::uint64_t job);

  // Creates the files of a run and reserves its space where the file system can. Returns the run's number.
  [[nodiscard]] std::size_t create(std::uint64_t records);

  // Takes a file that holds, or is to hold, `records` records of run number `identity` of the job, from its run block
  // `first_run_block` on. Its space and its length are the caller's business. Returns the run's number here.
  [[nodiscard]] std::size_t adopt(io::FilePtr file, std::uint64_t identity, std::uint64_t records, std::uint64_t first_run_block);

  [[nodiscard]] const StoredRun& run(std::size_t number) const { return runs_[number]; }
  [[nodiscard]] const planner::RunBlock& run_block() const noexcept { return run_block_; }
  [[nodiscard]] std::uint32_t forecast_stride() const noexcept { return stride_; }
  // The stride grows while a stream of unknown size comes in. Once it has ended the merge is planned with the stride that is
  // returned, which stays: blocks are multiples of it.
  std::uint32_t fix_forecast_stride() noexcept {
    stride_is_fixed_ = true;
    return stride_;
  }
  [[nodiscard]] RunDirection direction() const noexcept { return direction_; }
  [[nodiscard]] io::File& file(std::size_t number) { return *runs_[number].stripes.front(); }  // of a run that was adopted

  // Where run block i of `run_blocks` that follow each other in the run stands in a block of them.
  [[nodiscard]] std::byte* run_block_in(std::byte* block, std::uint64_t run_blocks, std::uint64_t i) const noexcept {
    return block + (direction_ == RunDirection::forward ? i : run_blocks - 1 - i) * run_block_.bytes;
  }

  // Whole run blocks from `first_run_block` on; `size` is a multiple of the run block.
  [[nodiscard]] Task<void> write(std::size_t number, std::uint64_t first_run_block, std::byte* data, std::size_t size);
  [[nodiscard]] Task<void> read(std::size_t number, std::uint64_t first_run_block, std::byte* data, std::size_t size);

  // Of run blocks [0, until), what was not given back yet.
  [[nodiscard]] std::uint64_t waiting_bytes(std::size_t number, std::uint64_t until) const;
  // Gives their space back, with one request for each directory.
  [[nodiscard]] Task<void> release(std::size_t number, std::uint64_t until);
  // Waits until every release that is under way has been done.
  [[nodiscard]] Task<void> released();

  // Every run, stored or not, is taken in (shared_key.h) before forecast keys of it are asked for.
  void take_in_keys(const records::Encoder& encoder, std::span<const std::byte* const> sample);
  [[nodiscard]] const SharedKey& shared_key() const noexcept { return shared_key_; }
  // Notes with which record a run block begins, if it is a multiple of forecast_stride().
  void set_forecast(std::size_t number, std::uint64_t run_block, const records::Encoder& encoder, const std::byte* first);
  // Of a run block that is a multiple of forecast_stride().
  [[nodiscard]] ForecastKey forecast(std::size_t number, std::uint64_t run_block) const {
    return runs_[number].forecast[run_block / stride_];
  }

  // Reads the keys of a run's forecast from its file: every forecast_stride-th run block, which is verified. A key that is wrong
  // would let the merge go too far before the run block itself is loaded, and a checkpoint could make that durable. Forecast
  // keys are at depth 0 then, and without places where no run was taken in before.
  [[nodiscard]] Task<void> read_forecast(std::size_t number, const records::Encoder& encoder, std::byte* memory);
  // Bytes of memory, aligned, that it needs.
  [[nodiscard]] std::uint64_t forecast_read_bytes() const noexcept { return run_block_.bytes; }

  // Pads and checksums one run block that holds `records` records; the opposite check.
  void seal(std::size_t number, std::uint64_t run_block, std::uint32_t records, std::byte* data) const;
  void verify(std::size_t number, std::uint64_t run_block, const std::byte* data) const;

  [[nodiscard]] std::uint64_t allocated_bytes() const noexcept { return allocated_bytes_; }
  [[nodiscard]] std::uint64_t peak_bytes() const noexcept { return peak_bytes_; }

 private:
  struct Piece {
    std::uint32_t stripe;
    std::uint64_t offset;
    std::uint64_t size;
  };
  // Where run blocks [first, first + size / run block) of a run begin, in its own bytes.
  [[nodiscard]] std::uint64_t place_of(std::size_t number, std::uint64_t first_run_block, std::uint64_t size) const noexcept {
    if (direction_ == RunDirection::forward) return first_run_block * run_block_.bytes;
    return (runs_[number].run_blocks - first_run_block) * run_block_.bytes - size;
  }
  [[nodiscard]] std::uint64_t seed_of(std::size_t number, std::uint64_t run_block) const noexcept {
    return runs_[number].seed + runs_[number].first_run_block + run_block;
  }
  // The contiguous piece of the run's bytes at `offset`, at most `size` long.
  [[nodiscard]] Piece locate(std::uint64_t offset, std::uint64_t size) const;
  // How many of the first `run_bytes` of a run lie in that stripe.
  [[nodiscard]] std::uint64_t stripe_size(std::uint32_t stripe, std::uint64_t run_bytes) const;
  void choose_pattern();
  void make_forecast(StoredRun& run);
  void thin_forecast();
  void move_forecast(const records::Encoder& encoder, std::uint64_t depth);
  void close_consumed(std::size_t number);

  Task<void> move(io::Operation operation, std::size_t number, std::uint64_t offset, std::byte* data, std::uint64_t size);
  Task<void> move_piece(io::Operation operation, std::size_t number, Piece piece, std::byte* data);
  Task<void> punch(std::size_t number, std::uint64_t from, std::uint64_t end);
  Task<void> punch_stripe(const io::File& file, std::uint64_t from, std::uint64_t end);

  io::Storage& storage_;
  io::Reactor& reactor_;
  planner::RunBlock run_block_;
  std::uint32_t record_size_;
  std::uint32_t stride_;
  bool stride_is_fixed_;
  std::uint64_t forecast_limit_;  // entries, until the stride is fixed
  std::uint32_t most_stride_;     // likewise
  std::uint64_t memory_bytes_;    // for a message
  std::uint64_t forecast_entries_ = 0;
  std::uint64_t unit_bytes_;  // stripe unit
  std::uint64_t job_;         // random: foreign blocks of another job fail their checksum
  RunDirection direction_ = RunDirection::forward;
  std::vector<std::string> directories_;
  std::vector<std::uint8_t> pattern_;                     // directory of unit u: pattern_[u % size]
  std::vector<std::vector<std::uint32_t>> pattern_rank_;  // units of that directory among the first u of the pattern
  std::vector<StoredRun> runs_;
  SharedKey shared_key_;
  std::uint64_t allocated_bytes_ = 0, peak_bytes_ = 0;
  std::uint64_t releasing_ = 0;  // releases under way
  Signal release_done_;
};

}  // namespace ecosort::engine
