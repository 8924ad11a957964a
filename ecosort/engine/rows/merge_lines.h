// The merge of sorted runs of lines, or of sorted files (-m), or of a part of every run, by one thread with bounded memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/group_policy.h"
#include "engine/rows/group_end.h"
#include "engine/rows/line_blocks.h"
#include "engine/rows/merge_cursors.h"
#include "engine/rows/merge_tree.h"
#include "formats/lines/late_hash.h"
#include "formats/row_format.h"
#include "hash/multiset_hash.h"

namespace ecosort::engine::rows {

struct MergedLines {
  hash::MultisetHash in, out, dropped, skipped;
  std::uint64_t rows_of_groups = 0;  // whose rows went out, where that is decided when a group ends
  std::size_t longest = 0;
  std::uint64_t blank_lines = 0;               // of plain files; they are dropped
  std::vector<formats::KeyCounts> key_counts;  // of plain files
  formats::RepeatedHeader repeated_header;     // likewise
};

struct MergeTerms {
  GroupPolicy groups{};
  bool must_be_ordered = true;       // VerificationError else, and of files of the user's NotSorted; these may be in any order
  bool is_of_files = false;          // of the user's, whose lines are hashed as they are taken
  bool hashes_input = false;         // also of runs the lines are hashed where they are read, besides where they are written
  std::uint64_t limit = UINT64_MAX;  // so many lines go out, and no more are read than that takes
  std::uint64_t skip = 0;            // lines that are first do not go out
  bool keeps_heads = false;          // of shuffled rows: they go into another run
};

// A merge between two lines: what came before the next one.
struct MergePlace {
  std::uint64_t bytes = 0;              // in the sink
  std::size_t last_row = 0;             // bytes of the row before it, with its end; 0: there is none
  hash::MultisetHash in, out, dropped;  // `in`: where the terms say so
  std::vector<std::uint64_t> runs;      // where in each the lines follow that are in neither
};

// Looks on at a merge of stored runs. Coordinator only.
class MergeWatcher {
 public:
  MergeWatcher() = default;
  MergeWatcher(const MergeWatcher&) = delete;
  MergeWatcher& operator=(const MergeWatcher&) = delete;
  virtual ~MergeWatcher() = default;

  // Returns whether a place is wanted before more than a block is merged.
  [[nodiscard]] virtual bool wants_place(std::uint64_t bytes) = 0;
  // All blocks up to `place`, and no more than a line behind it, were put.
  [[nodiscard]] virtual Task<void> at(MergePlace place) = 0;
};

// One merge. Coordinator only; must outlive its task, and the inputs must outlive it.
class MergeLines {
 public:
  // `part`: of stored runs only. Where the first of equal lines goes out the parts before it must be merged by
  // then, and lines that are equal to part.not_before are dropped.
  MergeLines(const RowTools& tools, const MergeTerms& terms, std::vector<MergeInput>& inputs, unsigned slots,
             const MergePart& part = {});

  // `beginning` goes first; what plain files begin with may still come to it.
  [[nodiscard]] Task<void> merge_to(LineSink& sink, const std::string& beginning);

  [[nodiscard]] const MergedLines& merged() const noexcept { return merged_; }

  // Outlives the merge. Before it begins.
  void watch(MergeWatcher& watcher) noexcept { watcher_ = &watcher; }

 private:
  enum class Reason : std::uint8_t { block_full, needs_block, finished };

  Task<void> merge_into(LineSink& sink, const std::string& beginning);
  Task<void> merge_or_refuse(LineSink& sink, const std::string& beginning);
  Task<void> start();
  void begin_codes();
  void begin_chain_codes();
  void take_chain_code(MergeCursor& cursor);
  Task<void> next_line_begins(MergeCursor& cursor);
  Task<std::byte*> put_beginning(LineSink& sink, const std::string& beginning);
  Task<void> merge_all(LineSink& sink, std::vector<std::byte*>& blocks);
  Task<void> take_first_rows(MergeCursor& cursor);
  Task<void> find_end(MergeCursor& cursor);
  template <class Format>
  bool pass_blank_end(const Format& format, MergeCursor& cursor);
  template <class Format>
  [[nodiscard]] bool find_end(const Format& format, MergeCursor& cursor);
  template <class Format>
  [[nodiscard]] bool find_plain_row(const Format& format, MergeCursor& cursor);
  template <class Format>
  [[nodiscard]] bool find_truncated_row(const Format& format, MergeCursor& cursor);
  template <class Format>
  [[nodiscard]] bool find_row(const Format& format, MergeCursor& cursor);
  template <class Format>
  void check_row(const Format& format, MergeCursor& cursor);
  [[noreturn]] static void rows_are_others(const MergeCursor& cursor);
  void complete_last_row(MergeCursor& cursor);
  static void pass_row(MergeCursor& cursor) noexcept;
  void leave_out(MergeCursor& cursor);
  [[noreturn]] void refuse(MergeCursor& cursor, const formats::RowFault& fault);
  [[nodiscard]] records::KeyWindow code_behind_last(MergeCursor& cursor);
  [[nodiscard]] bool repeats_last(const MergeCursor& cursor) const noexcept;
  [[nodiscard]] run::BlockContents contents() const noexcept;
  [[nodiscard]] bool can_copy() const;
  [[nodiscard]] bool copy_rows(MergeCursor& cursor, char* block, std::size_t capacity);
  template <class Format>
  Reason merge_some(const Format& format, char* block, std::size_t capacity);
  template <class Format>
  Reason merge_groups(const Format& format, char* block, std::size_t capacity);
  template <class Format>
  bool go_on(const Format& format, MergeCursor& cursor);
  [[nodiscard]] bool is_of_group(MergeCursor& cursor);
  [[nodiscard]] bool has_first_keys_of_last(MergeCursor& cursor);
  void take_into_group(MergeCursor& cursor);
  void take_last(MergeCursor& cursor);
  void end_group();
  void check_counts() const;
  std::size_t merge_blocks(const std::vector<std::byte*>& blocks, LineSink& sink, Reason& reason);
  [[nodiscard]] Text row_to_write(const MergeCursor& cursor) const noexcept;
  [[nodiscard]] bool is_skipped(Text row);
  [[nodiscard]] Text hashed(Text row, std::size_t head) const noexcept {
    return {row.data() + head, row.size() - head + hashed_end_};
  }
  void hash_written(Text row) noexcept { out_.add(hashed(row, written_head_)); }
  void row_is_out(Text row) noexcept;
  bool emit(const MergeCursor& cursor, char* block, std::size_t capacity);
  bool go_on_emitting(char* block, std::size_t capacity);
  [[nodiscard]] int compare_to_last(MergeCursor& cursor);
  [[nodiscard]] int compare_tie_to_last(MergeCursor& cursor);
  bool choose(MergeCursor& cursor);
  [[nodiscard]] bool is_place_wanted(const LineSink& sink) const;
  [[nodiscard]] MergePlace place(const LineSink& sink) const;
  void check_end() const;
  [[noreturn]] void out_of_order(const MergeCursor* cursor = nullptr) const;

  io::Reactor& reactor_;
  Compute& compute_;
  const formats::RowFormat& format_;
  MergeTerms terms_;
  const bool hashes_input_;
  const bool groups_by_first_keys_;
  const std::size_t row_head_;      // bytes in front of each row
  const std::size_t written_head_;  // of them, those that go out
  const std::size_t hashed_end_;    // bytes of a row that are hashed besides its text
  MergePart part_;
  std::size_t most_blocks_;     // of output, between two words with the coordinator
  std::uint64_t left_;          // lines that may go out
  std::uint64_t in_group_ = 0;  // of the group of the last one, those that went out
  LastLine last_;
  lines::KeyChain last_chain_;
  bool last_has_chain_ = false;
  MergeCursors cursors_;
  std::optional<RowCodes> codes_;  // of rows that are keys, or their last one, of runs, and begin alike
  const bool finds_plain_rows_;    // where a row ends and what its window is may show at once
  MergeTree tree_;
  bool is_tree_built_ = false;
  bool repeats_last_ = false;  // of the row that was found last and has a code: it equals the one that went out last
  MergedLines merged_;
  std::vector<formats::KeyCounts> counted_before_;  // of rows in inputs, which run formation counts
  lines::LateHash out_;
  GroupEnd group_;

  std::size_t filled_ = 0;          // bytes in the block
  std::size_t carried_ = 0;         // of them, those of a line that began in a block before
  std::size_t last_row_ = 0;        // bytes of the last line that is whole in the blocks, with its end
  Text emitting_;                   // the rest of the present line that is not in a block yet
  MergeCursor* waiting_ = nullptr;  // the cursor that needs a block
  MergeCursor* refused_ = nullptr;  // the one whose row was refused
  MergeWatcher* watcher_ = nullptr;
};

}  // namespace ecosort::engine::rows
