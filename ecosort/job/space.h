// Computes how much free space a sort asks for, drive by drive: what it reserves then, and little more, so that what is accepted
// fits and what is refused would not (promises P9, P10). Formulas: ecosort/DESIGN.md, "Space".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/errors.h"
#include "formats/records/key_spec.h"
#include "io/storage.h"
#include "planner/plan.h"

namespace ecosort::job {

// Returns which drive (file system) a directory is on. UsageError if it cannot be asked.
[[nodiscard]] std::uint64_t drive_of(const std::string& directory);

// A file system's own blocks about so many files of ours.
[[nodiscard]] std::uint64_t files_metadata_bytes(std::uint64_t files);

struct SpaceNeed {
  NotEnoughSpace::For purpose = NotEnoughSpace::For::runs;
  std::vector<std::string> directories;  // any of these may give it
  std::uint64_t bytes = 0;               // blocks of our files and the file system's own about them
  std::uint64_t free_bytes = 0;          // in all of them now

  [[nodiscard]] const char* what() const noexcept;  // "temporary space", ...
  [[nodiscard]] std::string where() const;          // "'a', 'b'"
};

// `directories` hold the runs, one per drive. Where one of them shares its drive with the output, the output takes the space
// that the merge gives back (`runs_give_back`), or, where a file system does not reuse that at once, all of its own. Nothing is
// needed for standard output, for an empty input, or for a stream whose size no one knows yet. Throws UsageError or IoError for
// a directory that cannot be asked.
[[nodiscard]] std::vector<SpaceNeed> space_needs(const planner::RecordPlan& plan, const std::vector<std::string>& directories,
                                                 bool runs_give_back, const std::string& output, io::Storage& storage);

[[nodiscard]] bool fits(const std::vector<SpaceNeed>& needs) noexcept;

// The files that a sort writes have no room.
struct NoRoom : NotEnoughSpace {
  using NotEnoughSpace::NotEnoughSpace;
  std::string alone;  // the only input, if it is on a file system that lets it be sorted in its own space
  std::optional<records::RecordFormat> format;  // of its records
};

// NoRoom: how much is needed, how much there is, and where. `alone`: as there; it is asked for only then.
void check_space(const std::vector<SpaceNeed>& needs, const std::function<std::string()>& alone = nullptr);

// The name of the file, which is on `device`, if it could be sorted in its own space there, which takes some room; else nothing.
[[nodiscard]] std::string if_fit_in_place(const io::File& file, std::uint64_t device);

}  // namespace ecosort::job
