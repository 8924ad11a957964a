// The inputs of a merge of rows, and a cursor in each of them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/prefetch.h"
#include "engine/rows/decoded_input.h"
#include "engine/rows/first_look.h"
#include "engine/rows/first_rows.h"
#include "engine/rows/line_blocks.h"
#include "engine/rows/row_codes.h"
#include "formats/row_format.h"
#include "hash/multiset_hash.h"

namespace ecosort::engine::rows {

// A merge has these inputs: a run, stored or in an input, or a file that somebody sorted. The starter of a merge owns it and lets
// go of it afterwards, because several parts of it may be merged at the same time.
struct MergeInput {
  run::RowRun run;
  hash::MultisetHash rows;  // of a stored run, where a limit leaves rows of it that no merge reads
  std::string name;
  bool is_plain = false;
  io::FilePtr file;  // of a plain file
  // Describes a plain file that is the run of a job, which is read and checked by its blocks. Its rows are looked at like those
  // of any other file: who made it is not known.
  const run::Description* kept = nullptr;
  run::RunPacker* coders = nullptr;  // of such a run that is packed
  const FirstLook* look = nullptr;   // of a plain file
  FirstRows* first_rows = nullptr;   // likewise
  DecodedInput* decoded = nullptr;   // likewise, where it is decompressed
};

// Lines of a run or of a file, or of a part of a run, in blocks. The coordinator fetches a block while the other one is merged.
//
// One cache line has all that every row of a merge needs: hundreds of cursors take turns at random, and the first-level cache
// holds 512 lines, those of the rows themselves included.
struct alignas(64) MergeCursor {
  const char* at = nullptr;  // the line
  const char* line_end = nullptr;
  const char* searched = nullptr;
  const char* end = nullptr;    // of the bytes that are here
  records::KeyWindow window{};  // of the line, or its code
  MergeInput* input = nullptr;
  std::uint32_t index = 0;
  bool is_plain = false;    // as its input
  bool is_checked = false;  // its rows are checked as they come: of a plain file, and of an input, which may have changed
  formats::Inside inside;   // at `searched`
  bool has_chain = false;   // the tree has the chain of the line
  bool at_last_block = false, exhausted = false;
  // Rows of the block are truncated (truncated_cursor.h). The row in the room is the next one, and not passed yet; the first row
  // of the block is to come; its last row goes on in the next one.
  bool is_truncated = false, is_pending = false, is_first = false, goes_on = false;
  char terminator = '\n';

  std::size_t room = 0;            // in front of each block
  std::size_t row_room = 0;        // of it, where truncated rows are put together
  std::size_t skipped = 0;         // bytes of the first block that belong to the part before
  std::uint64_t lines_end = 0;     // of a stored run: the bytes of its lines end here
  std::uint64_t blocks = 0;        // of a stored run: those of it that end with the last one merged
  std::uint64_t next_block = 0;    // to be requested
  std::uint64_t consumed_end = 0;  // the block that is merged
  // Blocks of a stored run that no one else merges: [released_end, release_limit) are yet to be given back.
  std::uint64_t released_end = 0, release_limit = 0;
  struct Slot {
    std::byte* data = nullptr;  // of the block; `room` bytes lie before
    std::size_t bytes = 0;      // of lines that came
    bool is_last = false;
    // Describe truncated rows, which lie at [rows, rows_end): bytes of a row that began before; whether the last one goes on.
    bool is_truncated = false, goes_on = false;
    std::size_t carried = 0;
    const char *rows = nullptr, *rows_end = nullptr;
    bool loading = false;              // the coordinator's
    std::atomic<bool> loaded = false;  // the merging thread takes the block without asking the coordinator
  };
  Slot slots[2];
  unsigned slot_count = 2;
  unsigned present = 0;  // the slot that is merged
  RowKeys keys{};        // of the line, where its code begins with them
  Buffer own_memory;     // of the one slot of a file with long lines
  bool has_block = false;
  // Count for a plain file lines and bytes before the present row, and hold the byte in front of the end of the row before it, or
  // 0.
  std::uint64_t lines_before = 0, bytes_before = 0;
  char before_end = 0;
  formats::RecordMarker marker{};                // of it
  std::uint64_t blank_line = 0, blank_byte = 0;  // of it, from 1 on: a blank line that may only end the file; 0: none came

  [[nodiscard]] Text line() const noexcept { return {at, static_cast<std::size_t>(line_end - at)}; }
  // The rows behind: as far ahead that they are there when the run has its turn, also where few are merged.
  void fetch_ahead() const noexcept {
    for (std::size_t ahead = 192; ahead < 384; ahead += 64) prefetch(line_end + ahead);
  }
};

}  // namespace ecosort::engine::rows
