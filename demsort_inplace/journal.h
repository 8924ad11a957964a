// The journal of a job: what is durable, so that nothing is given up before its successor is.
//
//   block    0            h                               h+4s
//            | job header | state | state | state | state | run 0 | run 1 | ... | k-1 |     blocks of 4096 bytes
//   record   | checksum | magic | sequence | kind | payload bytes | payload ... | zeros |   in whole blocks of its own
//
// The file is zero-filled before the job begins. Of fixed records it has its full length then, so that appending allocates
// nothing; how many runs lines make no one knows before, so that there the file grows by some places for runs at a time. A record
// goes where nothing is needed any more: each run has a place of its own, the states take turns, so that the last three stay
// untouched. The sequence number says which state is the last. A record whose checksum fails was torn by a crash, and counts as
// never written: what it would have allowed has not been done.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/memory.h"
#include "demsort_inplace/job_records.h"
#include "io/reactor.h"

namespace ecosort::demsort_inplace {

struct JournalContents {
  JobHeader header;
  std::vector<RunDone> runs;   // 0, 1, 2, ...
  std::optional<State> state;  // the last one
};

// Coordinator only; must outlive its tasks. Keeps one record in memory, besides --memory: 8 bytes per run that
// is merged at a time.
class Journal {
 public:
  // `file` outlives this. Nothing is done yet.
  Journal(io::Reactor& reactor, const io::File& file);

  // Bytes of the file of such a job, when it begins.
  [[nodiscard]] static std::uint64_t size_bytes(const JobHeader& header);

  // Writes the header, and zeros behind it. Durable when it returns.
  [[nodiscard]] Task<void> create(const JobHeader& header);

  // Reads what is there, to continue from it: makes it durable first, because after a crash of the program alone it need not be
  // yet. Nothing: no job was begun. IoError for what a crash cannot leave.
  [[nodiscard]] Task<std::optional<JournalContents>> open();
  // Looks only to report it: changes nothing, and keeps no error of the drive from the process that continues.
  [[nodiscard]] Task<std::optional<JournalContents>> look();

  // Durable when they return.
  [[nodiscard]] Task<void> append(const RunDone& done);
  [[nodiscard]] Task<void> append(const State& state);

 private:
  enum class Kind : std::uint32_t { header = 1, run = 2, state = 3 };
  struct Found {
    std::uint64_t sequence;
    std::vector<std::byte> payload;
  };

  void set_geometry(const JobHeader& header);
  [[nodiscard]] std::uint64_t run_block(std::uint64_t run) const noexcept;
  [[nodiscard]] std::uint64_t state_block(std::uint64_t sequence) const noexcept;
  [[nodiscard]] std::uint64_t places_in_file() const noexcept;
  Task<void> write_zeros(std::uint64_t from, std::uint64_t to);
  Task<void> write(std::uint64_t block, std::uint64_t sequence, Kind kind, const std::vector<std::byte>& payload);
  Task<std::optional<Found>> read(std::uint64_t block, Kind kind);
  Task<std::optional<JobHeader>> read_header();

  io::Reactor& reactor_;
  const io::File& file_;
  MemoryBudget budget_;
  Buffer buffer_;
  std::uint64_t header_blocks_ = 0, state_blocks_ = 0;
  std::uint64_t runs_ = 0;       // places for them
  std::uint64_t more_runs_ = 0;  // by so many the file grows; 0: there are no more
  std::uint64_t job_ = 0;
  std::uint64_t next_state_ = 0;  // sequence number
};

}  // namespace ecosort::demsort_inplace
