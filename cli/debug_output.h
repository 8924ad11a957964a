// --debug of lines: what goes to standard output gets there by a pipe and a thread, which underlines the keys of each line.
// Meant for looking at: the memory for the longest line and its marks is not counted.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "formats/lines/line_order.h"

namespace ecosort::cli {

struct DebugTerms {
  lines::LineOrderTerms order;
  char terminator = '\n';
  std::uint64_t header_lines = 0;  // which have no keys
};

// From making to finish(), or to its end, the process's standard output is the pipe. Not thread-safe.
class DebugOutput {
 public:
  explicit DebugOutput(DebugTerms terms);
  DebugOutput(const DebugOutput&) = delete;
  DebugOutput& operator=(const DebugOutput&) = delete;
  ~DebugOutput();  // what was not finished ends where it is

  // Waits until everything is written; IoError if it could not be.
  void finish();

 private:
  void pass_on();
  void mark_lines(std::string_view bytes, std::string& line, std::string& marked);
  void write_out(std::string_view text);
  void close_pipe() noexcept;

  DebugTerms terms_;
  lines::LineOrder order_;
  int output_ = -1, pipe_ = -1;
  int error_ = 0;
  std::atomic<bool> is_abandoned_ = false;
  std::thread thread_;
};

}  // namespace ecosort::cli
