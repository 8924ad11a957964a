// The bytes of the drive: of each unit 16 bytes in memory; packed ones in a file of slots, plain ones in another, both without
// names. Contents last as long as the object.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "scale/drive_unit.h"

namespace ecosort::scale {

// Thread-safe. All calls: std::system_error where the real drive fails.
class DriveStore {
 public:
  // `size` is cut to whole units. Records with numbers below `records` take the least space.
  DriveStore(const std::string& directory, std::uint64_t size, std::uint64_t records = most_records);

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return units_.size() * unit_bytes; }
  void read(std::uint64_t from, std::span<std::byte> bytes);
  void write(std::uint64_t from, std::span<const std::byte> bytes);
  void clear(std::uint64_t from, std::uint64_t size);  // to zeros; gives the space back
  [[nodiscard]] std::uint64_t real_bytes() const;      // that the files take
  [[nodiscard]] std::string report() const;            // JSON

 private:
  static constexpr std::size_t locks = 1024;

  void load(std::uint64_t unit, std::byte* bytes);
  void save(std::uint64_t unit, std::span<const std::byte> bytes, std::size_t changed_at, std::size_t changed);
  void punch_slots(std::uint64_t first, std::uint64_t end);
  void write_part(std::uint64_t unit, std::size_t at, std::span<const std::byte> bytes);
  [[nodiscard]] std::mutex& lock_of(std::uint64_t unit) { return locks_[unit % locks]; }

  std::vector<Unit> units_;
  std::size_t slot_bytes_;
  Descriptor slots_, plain_;
  std::array<std::mutex, locks> locks_;
  std::shared_mutex clearing_;  // alone: whole units are cleared
  std::atomic<std::uint64_t> read_ = 0, written_ = 0, cleared_ = 0;
};

}  // namespace ecosort::scale
