// Puts the lines of a sorted run in their order, block after block. Computes in the thread pool, one call at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "formats/key_cuts.h"
#include "formats/lines/late_hash.h"
#include "formats/lines/line_kernels.h"
#include "formats/lines/line_run.h"
#include "hash/multiset_hash.h"

namespace ecosort::lines {

// Fills blocks with rows.
class RowSource {
 public:
  struct Filled {
    std::size_t bytes = 0, carried = 0;
  };

  RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;
  virtual ~RowSource() = default;

  // The next bytes, `capacity` of them unless the lines end, and how many at their begin belong to a line that began before.
  // VerificationError if they are not in order.
  [[nodiscard]] virtual Filled fill(char* to, std::size_t capacity) = 0;
  [[nodiscard]] virtual bool finished() const noexcept = 0;
};

// Hashes the first lines of a sorted run, which do not go out.
[[nodiscard]] hash::MultisetHash hash_of_first(const LineRun& run, const formats::RowFormat& order, std::size_t lines);

class GatherLines final : public RowSource {
 public:
  enum class Checks : std::uint8_t { none, hashed, ordered, ascending };  // all but the first one hash what goes out

  GatherLines(const LineRun& run, const formats::RowFormat& order, Checks checks)
      : GatherLines(run, order, checks, 0, run.count) {}
  // Gathers the lines [first, end) in their order.
  GatherLines(const LineRun& run, const formats::RowFormat& order, Checks checks, std::size_t first, std::size_t end);

  // These bytes go first.
  void set_header(Text header) { rest_ = header; }
  // Each line gets a head (formats/shuffle/shuffle_format.h), and `cuts` holds where parts begin when all is filled. It outlives
  // this.
  void add_heads(formats::KeyCuts& cuts);

  [[nodiscard]] Filled fill(char* to, std::size_t capacity) override;
  [[nodiscard]] bool finished() const noexcept override { return next_ == end_ && rest_.empty(); }
  [[nodiscard]] std::size_t longest() const noexcept { return longest_; }  // bytes, with the end
  [[nodiscard]] const hash::MultisetHash& hash() const noexcept { return hash_.sum(); }

 private:
  [[nodiscard]] std::size_t stop_at_cut(std::size_t filled);
  [[nodiscard]] std::size_t copy_lines(char* to, std::size_t room, std::size_t stop);
  [[nodiscard]] std::size_t copy_walked(char* to, std::size_t room, std::size_t stop);
  void begin_line();
  [[nodiscard]] std::size_t copy_rest(char* to, std::size_t room);
  void take(Text line);
  void check(Text line);

  const LineRun& run_;
  const formats::RowFormat& order_;
  Checks checks_;
  formats::Gather gather_;
  std::size_t next_, end_;
  std::size_t hashed_end_;      // bytes of a line that are hashed besides its text
  sorting::Entry head_{};       // of a line that did not fit the block before
  Text rest_of_head_, rest_;    // of that line
  std::size_t head_bytes_ = 0;  // in front of each line
  formats::KeyCuts* cuts_ = nullptr;
  unsigned next_cut_ = 0;
  std::size_t cut_at_ = 0;   // the line in front of which it is
  std::uint64_t bytes_ = 0;  // in the blocks before
  std::size_t longest_ = 0;
  LateHash hash_;
};

}  // namespace ecosort::lines
