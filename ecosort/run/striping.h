// Decides where the bytes of a run lie: in one file, or striped over one in each directory (the application's own RAID-0). Fuller
// directories get less.
//
//   striped   unit u of a run lies in the file of directory pattern[u mod 64], behind the units that lie there already
//   whole     a run lies in the file of the directory whose turn it is
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/storage.h"
#include "run/drive_shares.h"

namespace ecosort::run {

// Coordinator only; locate() and stripe_bytes() once a run was placed: any thread.
class Striping {
 public:
  struct Piece {
    std::uint32_t stripe = 0;
    std::uint64_t offset = 0, size = 0;
  };

  // `unit_bytes`: 0: each run lies whole in one directory. How much room there is, is asked when the first run is
  // placed, and only where there is a choice.
  Striping(std::vector<std::string> directories, std::uint64_t unit_bytes)
      : directories_(std::move(directories)), unit_bytes_(directories_.size() > 1 ? unit_bytes : 0) {}

  // The directories of the stripes of a new run of `bytes`, in their order. IoError.
  [[nodiscard]] std::vector<std::string> place(io::Storage& storage, std::uint64_t bytes);

  // The contiguous piece of a run's bytes at `offset`, at most `size` long.
  [[nodiscard]] Piece locate(std::uint64_t offset, std::uint64_t size) const;
  // Returns how many of the first `run_bytes` of a run lie in that stripe.
  [[nodiscard]] std::uint64_t stripe_bytes(std::uint32_t stripe, std::uint64_t run_bytes) const;

 private:
  void choose_pattern();

  std::vector<std::string> directories_;
  std::uint64_t unit_bytes_;
  std::optional<DriveShares> shares_;
  std::vector<std::uint8_t> pattern_;                     // directory of unit u: pattern_[u % size]; empty: runs are whole
  std::vector<std::vector<std::uint32_t>> pattern_rank_;  // units of that directory among the first u of the pattern
};

}  // namespace ecosort::run
