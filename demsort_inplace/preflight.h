// Checks before anything is changed whether a file can be sorted in its own space without risk (promise P6).
//
// Every refusal is a UsageError: one line with the reason and a way out.
#pragma once

#include <cstdint>
#include <string>

#include "demsort_inplace/job_records.h"
#include "io/file.h"
#include "io/posix_storage.h"

namespace ecosort::demsort_inplace {

// Opens FILE for reading and writing, locked against other users of flock. Refused are: anything but a regular file under its own
// name (no symbolic or second hard links, no mount points), what cannot be written or renamed, a file that another process has
// open for writing, holes and blocks that are shared with other files, and every file system but ext4 with a journal and XFS:
// where a block may belong to two files after a crash, or what is cut off is not free at once, cutting files off is not safe.
// `instead`: the command that does without.
[[nodiscard]] io::FilePtr open_fit_file(const std::string& path, io::PosixStorage& storage,
                                        const std::string& instead = "ecosort sort");

// Checks whether a job may continue where it is now: its directory may have been copied to another file system. JobRefused.
void check_place(const io::File& journal, const JobHeader& header, const std::string& path);

// The unit in which the file system gives out space; 1 where it cannot be asked.
[[nodiscard]] std::uint64_t block_bytes(const std::string& directory);

// Bytes that the file system counts as free but may keep: on XFS what each allocation group puts aside for its own trees when it
// is nearly full, and what a crash leaves it to free once more (16 blocks each). Elsewhere nothing.
[[nodiscard]] std::uint64_t held_bytes(const std::string& directory);

// Blocks beyond the end of an open file that was found fit, in bytes: XFS puts them aside for more to be appended. 0 where they
// cannot be had, because somebody else has the file open.
[[nodiscard]] std::uint64_t bytes_beyond_end(const io::File& file);

// Makes the file system take them back. A notice, or nothing where there are none.
[[nodiscard]] std::string give_back_beyond_end(const io::File& file);

// The quotas of those who will own the files leave so much. `run_bytes`: of this, what belongs to this user even if FILE does
// not.
void check_quota(const io::File& file, const std::string& path, std::uint64_t need_bytes, std::uint64_t run_bytes);

}  // namespace ecosort::demsort_inplace
