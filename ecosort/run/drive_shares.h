// Chooses which of several drives the next piece of the runs goes to: each gets as much as it has room for, in proportion.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/storage.h"

namespace ecosort::run {

// Coordinator only.
class DriveShares {
 public:
  // Asks for the free space of each directory, of which there is at least one. IoError.
  DriveShares(io::Storage& storage, const std::vector<std::string>& directories);

  // The directory, by its place in the list, that stays the emptiest in proportion when it gets `amount` more, the first one of
  // several; it has it from now on.
  [[nodiscard]] std::size_t next(std::uint64_t amount = 1);

 private:
  std::vector<std::uint64_t> weights_, given_;
};

}  // namespace ecosort::run
