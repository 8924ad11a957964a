#include "run/drive_shares.h"

#include <algorithm>

#include "base/uint128.h"

namespace ecosort::run {

DriveShares::DriveShares(io::Storage& storage, const std::vector<std::string>& directories) : given_(directories.size()) {
  weights_.reserve(directories.size());
  for (const std::string& directory : directories)
    weights_.push_back(std::max<std::uint64_t>(storage.free_bytes(directory) >> 20U, 1));
}

std::size_t DriveShares::next(std::uint64_t amount) {
  std::size_t best = 0;
  for (std::size_t drive = 1; drive < weights_.size(); ++drive)
    if (uint128{given_[drive] + amount} * weights_[best] < uint128{given_[best] + amount} * weights_[drive]) best = drive;
  given_[best] += amount;
  return best;
}

}  // namespace ecosort::run
