#include "job/space.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/memory.h"
#include "base/size_text.h"
#include "io/file_system.h"
#include "io/posix_storage.h"

namespace ecosort::job {

namespace {

// A file system's own blocks about our files. Measured on file systems with all but the need taken: XFS leaves 16 KiB unused
// (320 MiB large; more levels of its trees on larger ones) and makes inodes of 512 bytes; ext4 takes 1 to 4 KiB. An extent takes
// 12 (ext4) or 16 (XFS) bytes in tree blocks that may be half empty.
constexpr std::uint64_t metadata_base_bytes = std::uint64_t{64} * 1024, inode_bytes = 512, extent_bytes = 32;

std::uint64_t metadata_bytes(std::uint64_t files, std::uint64_t extents) {
  return round_up(metadata_base_bytes + files * inode_bytes + extents * extent_bytes, page_bytes);
}

// The output follows the merge, but for the part of each run that is in use, for what waits to be given back, for what is
// reserved ahead, and for the padding of run blocks, of which the output has none.
std::uint64_t lag_bytes(const planner::RecordPlan& plan) {
  const planner::Merge& merge = plan.merge;
  const std::uint64_t padding = plan.run_bytes - plan.stored_records * plan.wanted.format.record_size;
  return round_up(padding, page_bytes) + merge.reserve_bytes + merge.waiting_bytes +
         merge.stored_runs_of_last_step() * plan.run_block.bytes;
}

// Runs are striped in proportion to the room of each directory, in whole units.
std::uint64_t striping_bytes(const planner::RecordPlan& plan, std::size_t directories) {
  return directories == 1 ? 0 : plan.temp_bytes / 32 + plan.merge.stored_runs * plan.formation.write_block_bytes;
}

}  // namespace

std::uint64_t files_metadata_bytes(std::uint64_t files) { return metadata_bytes(files, 0); }

std::uint64_t drive_of(const std::string& directory) {
  struct stat info{};
  if (::stat(directory.c_str(), &info) != 0) throw UsageError(fmt::format("'{}': {}", directory, std::strerror(errno)));
  return info.st_dev;
}

const char* SpaceNeed::what() const noexcept {
  static constexpr std::array names{"temporary space", "space for the output", "space for the runs and the output"};
  return names[static_cast<std::size_t>(purpose)];
}

std::string SpaceNeed::where() const {
  std::string text;
  for (const std::string& directory : directories) text += fmt::format("{}'{}'", text.empty() ? "" : ", ", directory);
  return text;
}

std::vector<SpaceNeed> space_needs(const planner::RecordPlan& plan, const std::vector<std::string>& directories,
                                   bool runs_give_back, const std::string& output, io::Storage& storage) {
  std::vector<SpaceNeed> needs;
  if (plan.wanted.input_records == 0) return needs;
  const bool has_output = output != "-", has_runs = plan.temp_bytes > 0;
  const std::string place = has_output ? io::resolve_output(output).directory : "";
  const bool shared = has_output && has_runs && std::ranges::any_of(directories, [&](const std::string& directory) {
                        return drive_of(directory) == drive_of(place);
                      });
  const std::uint64_t output_blocks = round_up(plan.wanted.input_records * plan.wanted.output_record_size(), page_bytes);
  using For = NotEnoughSpace::For;
  SpaceNeed runs{For::runs, directories, plan.temp_bytes + striping_bytes(plan, directories.size()), 0};
  SpaceNeed written{For::output, {place}, output_blocks, 0};
  if (shared && runs_give_back) {
    runs.bytes += std::min(plan.merge.reserve_bytes, output_blocks);
    written.bytes += std::min(lag_bytes(plan), plan.temp_bytes);
  } else if (shared) {
    runs.bytes += output_blocks;
  }
  runs.bytes += metadata_bytes(plan.merge.stored_runs * directories.size(), 0);
  const std::uint64_t stored = std::max<std::uint64_t>(plan.merge.stored_runs_of_last_step(), 1);
  const std::uint64_t hole = std::max<std::uint64_t>(plan.merge.waiting_bytes / stored, plan.run_block.bytes);
  written.bytes += metadata_bytes(1, shared ? output_blocks / hole : 0);
  if (shared && directories.size() == 1) {
    written.purpose = For::runs_and_output;
    written.bytes = std::max(written.bytes, runs.bytes);
    needs.push_back(std::move(written));
  } else {
    if (has_output) needs.push_back(std::move(written));
    if (has_runs) needs.push_back(std::move(runs));
  }
  for (SpaceNeed& need : needs)
    for (const std::string& directory : need.directories) need.free_bytes += storage.settled_free_bytes(directory, need.bytes);
  return needs;
}

bool fits(const std::vector<SpaceNeed>& needs) noexcept {
  return std::ranges::all_of(needs, [](const SpaceNeed& need) { return need.bytes <= need.free_bytes; });
}

void check_space(const std::vector<SpaceNeed>& needs, const std::function<std::string()>& alone) {
  for (const SpaceNeed& need : needs) {
    if (need.bytes <= need.free_bytes) continue;
    NoRoom error(fmt::format("not enough {} in {}: {} ({} bytes) needed, {} free", need.what(), need.where(),
                             format_bytes(need.bytes), need.bytes, format_bytes(need.free_bytes)),
                 need.purpose, need.free_bytes, need.bytes, need.directories);
    if (alone) error.alone = alone();
    throw error;
  }
}

std::string if_fit_in_place(const io::File& file, std::uint64_t device) {
  if (file.facts().is_stream || !io::frees_safely(io::file_system_of(file.path(), device))) return "";
  constexpr std::uint64_t least_room = std::uint64_t{16} << 20U, share = 32;  // more than such a sort plans for
  const std::uint64_t room = io::PosixStorage{}.free_bytes(file.path());
  return room >= least_room + file.facts().size_bytes / share ? file.path() : "";
}

}  // namespace ecosort::job
