// Read ahead: fills runs with lines from the inputs and makes their index as the blocks arrive.
//
//   input   ....|aaaaaaaa|bbbbbbbb|cccc         blocks of a file follow each other in the run
//   run     [tail|aaaaaaaa|bbbbbbbb|cccc..]     tail: what the run before had beyond its last whole line, right before the first
//                                               block, which is aligned
//
// A file is read to its end, and its last line completed, before the next one begins: lines of two files never fuse.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/task.h"
#include "engine/rows/decoded_input.h"
#include "engine/rows/first_look.h"
#include "engine/rows/first_rows.h"
#include "engine/rows/input_order.h"
#include "engine/rows/limit_rows.h"
#include "engine/rows/line_input.h"
#include "engine/rows/row_tools.h"
#include "engine/rows/set_aside.h"
#include "formats/lines/duplicate_filter.h"
#include "formats/lines/index_lines.h"
#include "formats/lines/line_run.h"
#include "formats/shuffle/shuffle_format.h"

namespace ecosort::engine::rows {

// Between two lines of the inputs, from where reading can continue.
struct ReadPlace {
  std::uint64_t input = 0;   // by its number; that of all inputs: their end
  std::uint64_t offset = 0;  // in it
  std::uint64_t lines = 0;   // of it, before there; or `uncounted`: no one knows
  char before_end = 0;       // the last byte of the line before it in the input; 0: there is none, or it is empty
  static constexpr std::uint64_t uncounted = UINT64_MAX;
  friend bool operator==(const ReadPlace&, const ReadPlace&) = default;
};

// Holds what is left of inputs from a place on.
struct RowsRest {
  std::vector<LineInput> inputs;
  ReadPlace from;

  [[nodiscard]] std::uint64_t bytes() const;  // at most
};

// Coordinator only; must outlive its task.
class ReadLines {
 public:
  ReadLines(const ReadTools& tools, FirstRows& first_rows, std::vector<LineInput>& inputs,
            std::vector<lines::DuplicateFilter>& seen);

  // Reads the lines from there on. Before the first fill().
  void begin_at(const ReadPlace& place);
  // Returns the place of the first line that no run has got yet.
  [[nodiscard]] ReadPlace place() const;

  void set_look(FirstLook look) { look_ = std::move(look); }
  // Rows that cannot be sorted go there, where the format leaves them out. Before the first fill().
  void set_aside_to(SetAside& bad_rows) noexcept { bad_rows_ = &bad_rows; }
  // Is called where inputs are decompressed. Before the first fill().
  void set_decoding(const DecodeTools& tools) { decoding_.emplace(tools); }

  // Leaves out lines behind the limit's bound. Before the first fill().
  void set_limit(LimitRows& limit) noexcept { limit_ = &limit; }

  // Fills `run`, whose buffer no one uses, behind the lines that it keeps; no more lines only at the end of the input. UsageError
  // for a line that does not fit. `order`: what of it comes in order; null: no one wants to know.
  [[nodiscard]] Task<void> fill(lines::LineRun& run, BufferOrder* order = nullptr);

  [[nodiscard]] bool at_end() const noexcept { return input_ == inputs_.size() && tail_.empty(); }
  [[nodiscard]] const hash::MultisetHash& hash() const noexcept { return hash_; }  // of all lines read, those of the header too
  // Returns the hash of the lines that `seen` knew, so that no run has them.
  [[nodiscard]] const hash::MultisetHash& dropped() const noexcept { return dropped_; }
  // Returns the hash of the lines behind the limit's bound, likewise.
  [[nodiscard]] const hash::MultisetHash& beyond() const noexcept { return beyond_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  // Count lines of those dropped.
  [[nodiscard]] std::uint64_t blank_lines() const noexcept { return blank_lines_; }
  [[nodiscard]] std::uint64_t comments() const noexcept { return comments_; }
  [[nodiscard]] const LineInput& input(std::uint64_t number) const { return inputs_[number]; }
  [[nodiscard]] const std::vector<formats::KeyCounts>& key_counts() const noexcept { return key_counts_; }
  [[nodiscard]] const formats::RepeatedHeader& repeated_header() const noexcept { return repeated_header_; }

  // At the end: IoError where an input is not what it was, and a notice about those that grew, or nothing. Of a file that grew
  // the lines were read that it had when it was opened.
  [[nodiscard]] std::string check_unchanged();

 private:
  struct Block {
    std::size_t at;  // in the run
    std::size_t size;
    std::size_t got = 0;
    bool arrived = false;
  };

  void begin_input();
  void place_tail(lines::LineRun& run);
  [[nodiscard]] std::size_t aligned(std::size_t at) const;
  void request_blocks(lines::LineRun& run);
  [[nodiscard]] bool has_room(const lines::LineRun& run, std::size_t size) const;
  [[nodiscard]] std::uint64_t wanted_bytes(const lines::LineRun& run) const;
  Task<void> read_until_full(lines::LineRun& run);
  Task<void> read_rows(lines::LineRun& run);
  Task<void> check_rest(lines::LineRun& run);
  Task<void> read(Block& block, lines::LineRun& run, std::uint64_t offset);
  Task<void> accept_block(lines::LineRun& run);
  void end_input(lines::LineRun& run);
  Task<void> mark_records(const lines::LineRun& run);
  Task<void> index(lines::LineRun& run);
  Task<lines::Indexed> index_some(lines::LineRun& run);
  Task<void> set_aside(const lines::LineRun& run, const lines::Indexed& indexed);
  Task<bool> leave_out_open_line(const lines::LineRun& run);
  void leave_out_blank_end(Text rest);
  [[nodiscard]] bool take_first_rows(lines::LineRun& run);
  [[nodiscard]] bool has_whole_row(const lines::LineRun& run) const;
  [[nodiscard]] bool ends_line(Text rest) const;
  void take(const lines::LineRun& run, const lines::Indexed& indexed);
  [[nodiscard]] formats::RepeatedHeader repeated_header(const lines::LineRun& run, const lines::Indexed& indexed) const;
  [[nodiscard]] std::optional<BufferOrder::Origin> origin() const;
  void number_rows(const shuffle::ShuffleFormat& format, lines::LineRun& run, std::size_t first, lines::Indexed& indexed);
  Task<void> cut_off(lines::LineRun& run);
  void check_beginning(Text row, bool is_all) const;
  [[nodiscard]] std::string place_of(const char* row, std::size_t at) const;
  [[noreturn]] void refuse(const char* row, const formats::RowFault& fault) const;
  // "line 7, " for the line that comes so many behind the next row; nothing where no one knows.
  [[nodiscard]] std::string line_told(std::uint64_t before) const;
  [[noreturn]] void line_too_long(const lines::LineRun& run, Text beginning) const;

  io::Reactor& reactor_;
  Compute& compute_;
  const planner::LinePlan& plan_;
  const formats::RowFormat& format_;
  FirstRows& first_rows_;
  std::vector<LineInput>& inputs_;
  Progress& progress_;
  const std::atomic<int>& interrupted_;
  std::vector<lines::DuplicateFilter>& seen_;
  io::Storage& storage_;
  FirstLook look_;
  LimitRows* limit_ = nullptr;
  std::optional<DecodeTools> decoding_;
  std::optional<DecodedInput> decoded_;  // the present input, if it is decoded

  std::size_t input_ = 0;     // the one that is read
  std::uint64_t offset_ = 0;  // in it, of the next request
  std::size_t skipped_ = 0;   // bytes of the first block that are not wanted
  bool counts_lines_ = true;
  std::uint64_t file_lines_ = 0;    // of it, before the next row to be indexed; a row may have several
  std::uint64_t file_indexed_ = 0;  // bytes of it, likewise
  char before_end_ = 0;             // of it, the last byte of the row before; 0: there is none, or it is empty
  bool at_begin_ = true;            // nothing of it was taken
  bool input_ended_ = false;        // nothing more is to be requested of it
  bool is_complete_ = false;        // and its last row has its end
  std::deque<Block> blocks_;        // requested, in order
  TaskGroup reads_;
  Signal arrived_;

  std::size_t indexed_ = 0;  // in the run: lines up to here are in the index
  std::size_t present_ = 0;  // bytes up to here have arrived
  std::size_t requested_ = 0;
  formats::RecordMarker marker_;
  std::size_t marked_ = 0;   // bytes up to here were given to it
  std::uint64_t taken_ = 0;  // bytes that were requested for this run
  bool full_ = false;
  BufferOrder* order_ = nullptr;  // of the run
  Text tail_;                     // in the run before
  std::size_t longest_ = 0;
  bool took_rows_ = false;  // for this run
  hash::MultisetHash hash_, dropped_, beyond_;
  std::uint64_t bytes_ = 0, lines_ = 0;
  std::uint64_t entered_ = 0;  // rows in an index, of this run and those before
  std::uint64_t blank_lines_ = 0, comments_ = 0;
  SetAside* bad_rows_ = nullptr;
  std::vector<formats::KeyCounts> key_counts_;
  formats::RepeatedHeader repeated_header_;
};

}  // namespace ecosort::engine::rows
