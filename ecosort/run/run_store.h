// The run store: sorted runs on drives, whatever their records are.
//
//   run file       | run block 0 | run block 1 | ... |       sealed, a multiple of 4096 bytes each (run_block.h)
//   of a job       begins with its description (description.h)
//   backward       run block i lies i run blocks before the end of the file: what the merge has consumed can be cut off
//   packed         run blocks of different sizes, whole pages each, one behind the other: where they end is kept in memory
//                  and, of a job, in its file, too (block_places.h)
//
//   striping.h       where the bytes of a run lie
//   forecast.h       with which key blocks begin, of records of fixed size
//   packed_runs.h    runs whose blocks may be compressed
//   record_runs.h    runs of records of fixed size
//   row_runs.h       runs of rows of any length
//
// A run block whose checksum fails ends the run with IoError and never becomes output (promise P11). One file per run and
// directory, as giving back space locks a file against its own reads only; where the process may have few files open, several
// runs lie in a file, one behind the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/memory.h"
#include "codec/block_codec.h"
#include "io/reactor.h"
#include "io/storage.h"
#include "run/description.h"
#include "run/run_block.h"
#include "run/striping.h"

namespace ecosort::run {

// The files of a run, or of several.
struct RunFiles {
  std::vector<io::FilePtr> stripes;  // one, or one per directory
  unsigned runs = 0;                 // that are in use
  std::uint64_t end = 0;             // of the last run, in each file
};

// Stays where it is as long as the store lives.
struct StoredRun {
  std::shared_ptr<RunFiles> files;                    // null: closed
  std::uint64_t begin = 0, end = 0;                   // in each of its files, where others may lie before and behind it
  std::uint64_t number = 0;                           // in its job
  std::uint64_t seed = 0;                             // of its first block
  std::uint64_t head_bytes = 0;                       // of its file, in front of the blocks: from `begin` on
  bool is_compressed = false;                         // a program writes and reads its file
  bool is_packed = false;                             // blocks may be compressed, each by itself (packed_block.h)
  std::vector<std::uint32_t> ends;                    // of a packed run: where each block ends that was put, in pages
  codec::BlockCodec codec = codec::BlockCodec::none;  // of packed blocks: the one that takes most
  std::uint64_t places_bytes = 0;                     // of a packed run of a job: of the table behind its blocks; 0: it has none
  std::uint64_t blocks = 0;
  std::uint64_t space_bytes = 0;      // that its files take
  std::uint64_t released_blocks = 0;  // were given back, or are about to be
  std::uint64_t released_until = 0;   // the first of them that follow each other from block 0 on
  unsigned releases = 0;              // under way

  [[nodiscard]] const std::vector<io::FilePtr>& stripes() const { return files->stripes; }
  [[nodiscard]] io::File& file() const { return *stripes().front(); }  // of a run that lies whole
};

// Runs that outlive the process: what all of a job have.
struct KeptRuns {
  Direction direction = Direction::forward;
  std::uint64_t job = 0;         // identifies the job's blocks
  std::uint64_t head_bytes = 0;  // of each file, for its description
  std::uint64_t unit = 1;        // of the file system: what is given back of a file ends with a multiple of it
};

// A run, and what those who read it by its description need of that; they fill in what its records are.
struct LentRun {
  io::FilePtr file;
  Description description;
};

// Coordinator only, except seal() and check(), which the compute threads call on blocks they own; must outlive its tasks.
class RunStore {
 public:
  // Runs in files without names.
  RunStore(io::Storage& storage, io::Reactor& reactor, std::uint64_t block_bytes, Striping striping);
  // Runs that outlive the process, in files of the caller's.
  RunStore(io::Storage& storage, io::Reactor& reactor, std::uint64_t block_bytes, const KeptRuns& kept);

  [[nodiscard]] const StoredRun& run(std::size_t number) const { return runs_[number]; }
  [[nodiscard]] std::uint64_t block_bytes() const noexcept { return block_bytes_; }
  [[nodiscard]] std::uint64_t head_bytes() const noexcept { return kept_.head_bytes; }
  [[nodiscard]] Direction direction() const noexcept { return kept_.direction; }

  // Returns where block i of `blocks` that follow each other in the run is in memory that holds them.
  [[nodiscard]] std::byte* block_in(std::byte* memory, std::uint64_t blocks, std::uint64_t i) const noexcept {
    return memory + (kept_.direction == Direction::forward ? i : blocks - 1 - i) * block_bytes_;
  }

  // Bytes that a block takes on the drive, or so many that follow each other.
  [[nodiscard]] std::size_t stored_bytes(const StoredRun& run, std::uint64_t first_block,
                                         std::uint64_t blocks = 1) const noexcept {
    return offset_of(run, first_block + blocks) - offset_of(run, first_block);
  }

  // Whole blocks from `first_block` on, as they are on the drive; `size` is the sum of theirs.
  [[nodiscard]] Task<void> write(std::size_t number, std::uint64_t first_block, std::byte* data, std::size_t size);
  [[nodiscard]] Task<void> read(std::size_t number, std::uint64_t first_block, std::byte* data, std::size_t size);

  // Returns what the blocks of a complete run with such a table take. 0: they lie as they are.
  [[nodiscard]] std::uint64_t packed_bytes(std::size_t number) const noexcept {
    const StoredRun& run = runs_[number];
    return run.places_bytes == 0 ? 0 : offset_of(run, run.blocks);
  }

  // Returns what was not given back yet of blocks [0, until), in bytes.
  [[nodiscard]] std::uint64_t waiting_bytes(std::size_t number, std::uint64_t until) const;
  // Returns where a block of a run that goes forward lies in its file, of one that lies whole.
  [[nodiscard]] std::uint64_t begin_in_file(std::size_t number, std::uint64_t block) const noexcept {
    return front_of(runs_[number]) + offset_of(runs_[number], block);
  }
  // Gives the space of blocks [first, until) back, none of which was given back before, with one request for each directory.
  [[nodiscard]] Task<void> release(std::size_t number, std::uint64_t first, std::uint64_t until);
  // All that waits before `until`, where blocks are given back in their order.
  [[nodiscard]] Task<void> release_until(std::size_t number, std::uint64_t until) {
    return release(number, runs_[number].released_until, until);
  }
  // Waits until every release that is under way has been done.
  [[nodiscard]] Task<void> released();
  // Lends a complete run that goes forward and lies whole. Until it is back the store only knows what space it takes.
  [[nodiscard]] LentRun lend(std::size_t number);
  void take_back(std::size_t number, LentRun lent);
  // No one needs it here any more: an unnamed file gives back what it still takes, once no other run lies in it. Nothing where it
  // is closed already.
  void close(std::size_t number);

  // From now on blocks are taken as they are, damaged or not, and zeros for pages that cannot be read: for a job whose rows are
  // to come back whatever its drive has done to some.
  void take_as_it_is() noexcept { is_taken_as_it_is_ = true; }
  [[nodiscard]] std::uint64_t unreadable_bytes() const noexcept { return unreadable_bytes_; }

  // Writes the trailer of a block; the opposite check, which throws DamagedRun.
  void seal(const StoredRun& run, std::uint64_t block, std::byte* data, BlockContents contents) const noexcept;
  void check(const StoredRun& run, std::uint64_t block, const std::byte* data) const;
  [[noreturn]] void damaged(const StoredRun& run, std::uint64_t block) const;

  [[nodiscard]] std::uint64_t allocated_bytes() const noexcept { return allocated_bytes_; }
  [[nodiscard]] std::uint64_t peak_bytes() const noexcept { return peak_bytes_; }

 protected:
  // The description of a complete run, in front of its blocks, and where they are packed the table behind them. Not durable by
  // itself.
  [[nodiscard]] Task<void> write_described(std::size_t number, Description description);
  // The files of a new run, with space for its blocks where the file system can reserve. Returns its number.
  [[nodiscard]] std::size_t create_run(std::uint64_t blocks);
  // The files of one whose blocks are packed, with so much space reserved.
  [[nodiscard]] std::size_t create_packed_run(std::uint64_t blocks, std::uint64_t reserved_bytes);
  // An adopted run, which has nothing in it yet, is packed; its blocks are promised so much space.
  void make_packed(std::size_t number, std::uint64_t promised_bytes);
  // An adopted run of a job is packed: takes the places of its blocks from the table in its file, behind `stored_bytes` of them.
  // It was adopted from its block `first_block` on. DamagedRun.
  [[nodiscard]] Task<void> read_places(std::size_t number, std::uint64_t first_block, std::uint64_t stored_bytes);
  // The next block of a packed run takes so many bytes: whole pages.
  void append(std::size_t number, std::size_t stored_bytes, codec::BlockCodec codec);
  void forget_places(std::size_t number) noexcept { std::vector<std::uint32_t>().swap(runs_[number].ends); }
  // Returns whether one more run may have files of its own.
  [[nodiscard]] bool may_open_more() const noexcept;
  // The file of one whose blocks a program compresses.
  [[nodiscard]] std::size_t create_compressed_run();
  // Takes a file that holds, or is to hold, `blocks` blocks of run `identity` of the job, from its block `first_block` on. Its
  // space and its length are the caller's business. Returns the run's number here.
  [[nodiscard]] std::size_t adopt_run(io::FilePtr file, std::uint64_t identity, std::uint64_t blocks, std::uint64_t first_block);
  // The run turned out to have fewer blocks, or its blocks to be packed: gives back the rest.
  void shorten(std::size_t number, std::uint64_t blocks);
  void set_space(std::size_t number, std::uint64_t bytes);  // of a file that others write
  // Run `number` was closed.
  virtual void closed(std::size_t number) { (void)number; }
  ~RunStore() = default;
  RunStore(const RunStore&) = delete;
  RunStore& operator=(const RunStore&) = delete;
  [[nodiscard]] io::Storage& storage() const noexcept { return storage_; }
  [[nodiscard]] io::Reactor& reactor() const noexcept { return reactor_; }

 private:
  // Returns where its blocks begin in each of its files.
  [[nodiscard]] static std::uint64_t front_of(const StoredRun& run) noexcept { return run.begin + run.head_bytes; }
  // Files that have room for one more run, because no more may be open; null: it gets its own.
  [[nodiscard]] std::shared_ptr<RunFiles> files_to_share();
  void close(RunFiles& files);
  [[nodiscard]] std::shared_ptr<RunFiles> new_files(std::uint64_t bytes, io::Caching caching);
  void take_space(StoredRun& run, std::uint64_t bytes, std::uint64_t reserved_bytes);
  [[nodiscard]] std::uint64_t end_of(const StoredRun& run, std::uint64_t bytes) const;
  void set_end(StoredRun& run, std::uint64_t bytes, bool is_cut);
  [[nodiscard]] StoredRun create_files(std::uint64_t bytes, std::uint64_t reserved_bytes);
  [[nodiscard]] std::size_t add(StoredRun run, std::uint64_t identity, std::uint64_t first_block, std::uint64_t space_bytes);
  // Returns where a block begins in the bytes of a run that goes forward.
  [[nodiscard]] std::uint64_t offset_of(const StoredRun& run, std::uint64_t block) const noexcept {
    if (!run.is_packed) return block * block_bytes_;
    return block == 0 ? 0 : std::uint64_t{run.ends[block - 1]} * page_bytes;
  }
  // Returns where blocks that begin with this one, and take `size` bytes, lie in the bytes of the run.
  [[nodiscard]] std::uint64_t place_of(const StoredRun& run, std::uint64_t first_block, std::uint64_t size) const noexcept;
  Task<void> write_at(const io::File& file, std::uint64_t offset, std::vector<std::byte> bytes);
  Task<void> move(io::Operation operation, std::size_t number, std::uint64_t first_block, std::byte* data, std::uint64_t size);
  Task<void> read_pages(const io::File& file, Striping::Piece piece, std::byte* data);
  Task<void> move_piece(io::Operation operation, const StoredRun& run, Striping::Piece piece, std::byte* data);
  Task<void> move_pieces(io::Operation operation, const StoredRun& run, std::uint64_t offset, std::byte* data,
                         std::uint64_t size);
  Task<void> punch(const StoredRun& run, std::uint64_t from, std::uint64_t end, std::uint64_t alignment);
  Task<void> punch_stripe(const io::File& file, std::uint64_t from, std::uint64_t end);

  io::Storage& storage_;
  io::Reactor& reactor_;
  std::uint64_t block_bytes_;
  Striping striping_;
  KeptRuns kept_;  // the job's number is random: blocks of another job fail their checksum
  std::deque<StoredRun> runs_;
  bool is_taken_as_it_is_ = false;
  std::uint64_t unreadable_bytes_ = 0;
  std::size_t open_files_ = 0;                   // without names
  std::deque<std::weak_ptr<RunFiles>> unnamed_;  // may be shared; the first one is the next to be
  std::uint64_t allocated_bytes_ = 0, peak_bytes_ = 0;
  std::uint64_t releasing_ = 0;  // releases under way
  Signal release_done_;
};

}  // namespace ecosort::run
