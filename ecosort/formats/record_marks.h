// Records of lines, each of which begins with a line that begins with a text: mbox ("From "), FASTA (">").
//
//   input, output   From a | body | body | From b | body |
//   in memory       From a | body | body 0 From b | body 0       a mark, NUL, is in the place of the last newline of a record
//
// Only what follows a record shows where it ends, and that is elsewhere once rows have moved. So ends are marked as rows come in,
// and the writer of an output file takes the marks away. Between the two these rows are lines that end with NUL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace ecosort::formats {

// Says how records begin. Thread-safe.
class RecordMarks {
 public:
  static constexpr char mark = '\0';
  static constexpr std::size_t most_start_bytes = 256;

  explicit RecordMarks(std::string start) : start_(std::move(start)) {}

  [[nodiscard]] const std::string& start() const noexcept { return start_; }
  // Puts newlines in the place of marks, in bytes that go into an output file.
  static void take_away(std::byte* bytes, std::size_t size) noexcept;

 private:
  std::string start_;
};

// Marks the records of one input after the other as their bytes come. Whether a newline ends a record may show in the bytes that
// come next: it is open until then.
class RecordMarker {
 public:
  RecordMarker() = default;
  // Null: the rows are other ones, and there is nothing to mark.
  explicit RecordMarker(const RecordMarks* marks) noexcept : marks_(marks) {}

  struct Fault {
    const char* at;
    std::string why;
  };

  [[nodiscard]] bool is_on() const noexcept { return marks_ != nullptr; }
  void begin_input() noexcept {
    open_ = 0;
    at_begin_ = true;
  }
  // Takes `size` more bytes of the input, which lie at `bytes` behind those that came before, at least behind the open ones.
  // `is_all`: nothing follows. A fault: the input does not hold such records.
  [[nodiscard]] std::optional<Fault> mark(char* bytes, std::size_t size, bool is_all);
  // Counts the bytes that it still changes: the last ones of those that came.
  [[nodiscard]] std::size_t open_bytes() const noexcept { return open_; }

 private:
  [[nodiscard]] std::optional<Fault> fault_in(const char* bytes, std::size_t size, const char* new_bytes) const;

  const RecordMarks* marks_ = nullptr;
  std::size_t open_ = 0;
  bool at_begin_ = true;
};

}  // namespace ecosort::formats
