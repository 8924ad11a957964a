#include "io/drive_clock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/system_file.h"

namespace ecosort::io {
namespace {

DriveCounts read_counts(const Descriptor& stat) noexcept {
  std::array<char, 400> text;  // 17 numbers of up to 20 digits
  const ssize_t size = ::pread(stat.get(), text.data(), text.size(), 0);
  return size > 0 ? drive_counts_of({text.data(), static_cast<std::size_t>(size)}) : DriveCounts{};
}

}  // namespace

// Each of reads and of writes has four numbers, of which the third counts sectors; then come those in flight, and the busy
// milliseconds (Documentation/block/stat.rst).
DriveCounts drive_counts_of(std::string_view stat) noexcept {
  constexpr std::uint64_t sector_bytes = 512;
  std::array<std::uint64_t, 10> numbers{};
  for (std::uint64_t& number : numbers) number = number_of(take_word(stat)).value_or(0);
  return {.busy = std::chrono::milliseconds(numbers[9]), .bytes = (numbers[2] + numbers[6]) * sector_bytes};
}

// No drive moved what the page cache had. Before the first tick nothing is counted.
DriveWork explained(const DriveWork& seen, const DriveCounts& counts) noexcept {
  constexpr double least_left = 0.1;  // of the time
  if (counts.busy.count() <= 0 || counts.elapsed < counts.busy) return seen;
  const std::uint64_t all_bytes = std::max({seen.bytes, counts.bytes, std::uint64_t{1}});
  const double busy = static_cast<double>(counts.busy.count()), elapsed = static_cast<double>(counts.elapsed.count());
  const double ours = static_cast<double>(seen.bytes) / static_cast<double>(all_bytes);
  const double left = std::max(1 - busy * (1 - ours) / elapsed, least_left);
  return {seen.bytes, std::min(seen.busy, std::chrono::nanoseconds(static_cast<std::int64_t>(busy * ours / left)))};
}

void DriveClock::watch(const File& file) {
  struct stat status{};
  if (has_unknown_ || !files_.insert(file.facts().id).second) return;
  if (::fstat(file.fd(), &status) != 0) return void(has_unknown_ = true);
  if (std::ranges::find(drives_, status.st_dev, &Drive::number) == drives_.end()) watch_drive(status.st_dev);
}

// One that never moved anything is not counted: the file's directory was read from it.
void DriveClock::watch_drive(std::uint64_t number) {
  const std::string name = fmt::format("/sys/dev/block/{}:{}/stat", major(number), minor(number));
  Drive drive{number, Descriptor(::open(name.c_str(), O_RDONLY | O_CLOEXEC)), Clock::now(), {}};
  if (drive.stat.is_open()) drive.before = read_counts(drive.stat);
  has_unknown_ = drive.before.bytes == 0;
  drives_.push_back(std::move(drive));
}

DriveCounts DriveClock::counts() const noexcept {
  DriveCounts sum;
  for (const Drive& drive : drives_) {
    const DriveCounts now = read_counts(drive.stat);
    sum.elapsed += Clock::now() - drive.since;
    sum.busy += now.busy - drive.before.busy;
    sum.bytes += now.bytes - drive.before.bytes;
  }
  return sum;
}

}  // namespace ecosort::io
