// Takes what inputs begin with before their first row that is sorted: marks and lines on top, kept apart as the format wants it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "formats/row_format.h"
#include "hash/multiset_hash.h"

namespace ecosort::engine::rows {

// The inputs come one after the other, in their order. Coordinator only.
class FirstRows {
 public:
  // Keeps at most `most_bytes`; the error names `memory_bytes` where that does not suffice.
  FirstRows(formats::RowFormat& format, std::uint64_t most_bytes, std::uint64_t memory_bytes)
      : format_(format), most_bytes_(most_bytes), memory_bytes_(memory_bytes) {}

  void begin_input() {
    format_.begin_input();
    compared_ = 0;
    is_first_ = !has_begun_;
  }
  void go_on_in_input() { format_.go_on_in_input(); }

  // Bytes at the beginning of an input that are no row. `first`: RowFormat::most_mark_bytes of them, or all there are.
  [[nodiscard]] std::size_t take_mark(Text first);
  // Returns whether the next row of the input is to be given to take().
  [[nodiscard]] bool wants_row() const { return format_.wants_first_row(); }
  // NotEnoughMemory for rows on top that are too long, InputRefused for one that must be like that of the first input and is not.
  formats::FirstRow take(const std::string& input, Text row);
  // The input ends, and wants_row() is true.
  void miss(const std::string& input);

  // Sets what stays on top, as it was kept before: there are no inputs that begin with anything.
  void put_on_top(const std::string& text);
  // The inputs that follow must begin with what `input` began with; it is not in top().
  void compare_with(const std::string& input, const std::string& text);

  // Return what goes out first, and its rows.
  [[nodiscard]] const std::string& top() const noexcept { return top_; }
  [[nodiscard]] const hash::MultisetHash& hash() const noexcept { return hash_; }

 private:
  void keep(Text bytes);
  void end_header(const std::string& input, const char* ends);
  formats::FirstRow take_alike(const std::string& input, Text row);
  void compare(const std::string& input, Text row);
  // Returns what the present input has to go on with; `header_line` is the first line of it.
  [[nodiscard]] Text rest_of_header() const noexcept;
  [[nodiscard]] Text header_line() const noexcept;

  formats::RowFormat& format_;
  std::uint64_t most_bytes_, memory_bytes_;
  bool has_begun_ = false;     // an input
  bool is_first_ = true;       // the present input
  bool knows_header_ = false;  // whose rows all inputs begin with
  std::string header_;         // where it is not in top_
  std::string header_input_;
  std::size_t header_bytes_ = 0;  // at the end of top_
  std::size_t compared_ = 0;      // bytes of the header with the present input
  std::string top_;
  hash::MultisetHash hash_;
};

}  // namespace ecosort::engine::rows
