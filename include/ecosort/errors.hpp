// EcoSort throws these. One class per kind of failure; what() is one line for people, without a trailing newline.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#if defined(__GNUC__)
#define ECOSORT_API __attribute__((visibility("default")))
#else
#define ECOSORT_API
#endif

namespace ecosort {

// The exit code of the program for each kind of failure.
enum class ExitCode : int { done = 0, not_in_order = 1, usage = 2, io = 3, internal = 4 };

// Base of all errors that end a sort.
class ECOSORT_API Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& line) : std::runtime_error(line), code_(code) {}
  [[nodiscard]] ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

// The output does not hold what the input held, or is not in order (promise P1).
struct ECOSORT_API VerificationError : Error {
  explicit VerificationError(const std::string& line) : Error(ExitCode::not_in_order, line) {}
};

// A file that should be sorted is not: its record number `record` (from 0) comes before the one in front of it.
struct ECOSORT_API NotSorted : VerificationError {
  NotSorted(const std::string& line, std::uint64_t number) : VerificationError(line), record(number) {}
  std::uint64_t record;
};

// Invalid options, a bad input file, or a plan that cannot work. Nothing was changed.
struct ECOSORT_API UsageError : Error {
  explicit UsageError(const std::string& line) : Error(ExitCode::usage, line) {}
};

// A name, a permission or a read-only file system is in the way. Before the work begins that is a bad argument; in the middle of
// it something took away what was there.
struct ECOSORT_API NameError : UsageError {
  using UsageError::UsageError;
};

// An input does not hold what the request says: a row, a header, a column that a key names. No sort of it can come to an end
// before it is changed, or the request.
struct ECOSORT_API InputRefused : UsageError {
  using UsageError::UsageError;
};

// The header of a table is not there, or names no column: it can be read as one without a header.
struct ECOSORT_API HeaderUnusable : InputRefused {
  using InputRefused::InputRefused;
};

// A quote is in a table where none may be. It can be read with quotes that are bytes like others.
struct ECOSORT_API QuoteMisplaced : InputRefused {
  using InputRefused::InputRefused;
};

// A table does not have the columns or fields that it should have, and with another delimiter it would.
struct ECOSORT_API DelimiterMistaken : InputRefused {
  DelimiterMistaken(const std::string& line, std::string other) : InputRefused(line), delimiter(std::move(other)) {}
  std::string delimiter;
};

// A path into JSON lines leads nowhere in all of them. They can be sorted all the same, as rows without a value.
struct ECOSORT_API NoSuchPath : InputRefused {
  using InputRefused::InputRefused;
};

// The backend that was asked for does not work here; a pool of threads does everywhere.
struct ECOSORT_API BackendUnusable : UsageError {
  using UsageError::UsageError;
};

// The memory does not suffice. `need_bytes` would; 0: how much is not known.
struct ECOSORT_API NotEnoughMemory : UsageError {
  NotEnoughMemory(const std::string& line, std::uint64_t have, std::uint64_t need = 0)
      : UsageError(line), have_bytes(have), need_bytes(need) {}
  std::uint64_t have_bytes, need_bytes;
};

// The machine, or what limits this process in it, has less than was asked for.
struct ECOSORT_API MemoryNotThere : NotEnoughMemory {
  using NotEnoughMemory::NotEnoughMemory;
};

// File systems have too little free space: sums over the directories `places`. `job`: a sort in place or a resumable one.
struct ECOSORT_API NotEnoughSpace : UsageError {
  enum class For : std::uint8_t { runs, output, runs_and_output, job };
  NotEnoughSpace(const std::string& line, For what, std::uint64_t free, std::uint64_t need, std::vector<std::string> where = {})
      : UsageError(line), purpose(what), free_bytes(free), need_bytes(need), places(std::move(where)) {}
  For purpose;
  std::uint64_t free_bytes, need_bytes;
  std::vector<std::string> places;
};

// A failed system call on a file, a damaged run, or an input that changed while it was read.
class ECOSORT_API IoError : public Error {
 public:
  explicit IoError(const std::string& line, int error_number = 0) : Error(ExitCode::io, line), errno_(error_number) {}

  // "cannot CALL 'PATH' at OFFSET (SIZE bytes): reason"; offset and size are left out where they mean nothing (size == 0).
  static IoError from_call(const char* call, const std::string& path, int error_number, std::uint64_t offset = 0,
                           std::uint64_t size_bytes = 0);
  [[nodiscard]] int error_number() const noexcept { return errno_; }  // of the system; 0: none

 private:
  int errno_;
};

// A run does not hold what was written there: it was not used.
struct ECOSORT_API DamagedRun : IoError {
  using IoError::IoError;
};

// A broken promise inside EcoSort: a bug. The line says which.
struct ECOSORT_API InternalError : Error {
  explicit InternalError(const std::string& line) : Error(ExitCode::internal, line) {}
};

// The sort was asked to stop; it unwound and left nothing behind.
class ECOSORT_API Interrupted : public std::runtime_error {
 public:
  explicit Interrupted(int signal_number);
  [[nodiscard]] int signal_number() const noexcept { return signal_; }  // 0: asked through a stop token

 private:
  int signal_;
};

}  // namespace ecosort
