// Puts the lines of a sorted run in their order, block after block. Computes in the thread pool, one call at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

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

class GatherLines final : public RowSource {
 public:
  enum class Checks : std::uint8_t { none, hashed, ordered, ascending };  // all but the first one hash what goes out

  GatherLines(const LineRun& run, const formats::RowFormat& order, Checks checks)
      : GatherLines(run, order, checks, 0, run.count) {}
  // Gathers the lines [first, end) in their order.
  GatherLines(const LineRun& run, const formats::RowFormat& order, Checks checks, std::size_t first, std::size_t end);

  // These bytes go first.
  void set_header(Text header) { rest_ = header; }

  [[nodiscard]] Filled fill(char* to, std::size_t capacity) override;
  [[nodiscard]] bool finished() const noexcept override { return next_ == end_ && rest_.empty(); }
  [[nodiscard]] std::size_t longest() const noexcept { return longest_; }  // bytes, with the end
  [[nodiscard]] const hash::MultisetHash& hash() const noexcept { return hash_.sum(); }

 private:
  [[nodiscard]] std::size_t copy_lines(char* to, std::size_t room);
  [[nodiscard]] std::size_t copy_part(char* to, std::size_t room);
  void take(Text line);
  void check(Text line);

  const LineRun& run_;
  const formats::RowFormat& order_;
  Checks checks_;
  formats::Gather gather_;
  std::size_t next_, end_;
  Text rest_;  // of a line that did not fit the block before
  std::size_t longest_ = 0;
  LateHash hash_;
};

}  // namespace ecosort::lines
