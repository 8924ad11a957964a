// The errors of EcoSort, one class per exit code, so that only `main` turns them into codes.
//
// Between stages errors travel as exceptions with their whole context in one line (what was tried, on which path, at which
// offset, how many bytes, the system's reason). Expected outcomes are values, not exceptions. Libraries neither print nor exit.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace ecosort {

// Process exit codes; the table stands in the man page.
enum class ExitCode : int { done = 0, not_in_order = 1, usage = 2, io = 3, internal = 4 };

// Base of all errors that end a run. `what()` is one line for the user, without a trailing newline.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& line) : std::runtime_error(line), code_(code) {}
  [[nodiscard]] ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

// The output does not hold what the input held, or is not in order (promise P1).
struct VerificationError : Error {
  explicit VerificationError(const std::string& line) : Error(ExitCode::not_in_order, line) {}
};

// A wrong option, a bad input file, or a plan that cannot work. The line says what would work.
struct UsageError : Error {
  explicit UsageError(const std::string& line) : Error(ExitCode::usage, line) {}
};

// A name, a permission or a read-only file system is in the way. Before the work begins that is a bad argument; in the middle of
// it something took away what was there, and the run tells it as an IoError.
struct NameError : UsageError {
  using UsageError::UsageError;
};

// A failed system call on a file, a damaged run block, or an input that changed while it was read.
class IoError : public Error {
 public:
  explicit IoError(const std::string& line, int error_number = 0) : Error(ExitCode::io, line), errno_(error_number) {}

  // "cannot CALL 'PATH' at OFFSET (SIZE bytes): reason"; offset and size are left out where they mean nothing (size == 0).
  static IoError from_call(const char* call, const std::string& path, int error_number, std::uint64_t offset = 0,
                           std::uint64_t size_bytes = 0);
  [[nodiscard]] int error_number() const noexcept { return errno_; }

 private:
  int errno_;
};

// A broken promise inside the program: a bug. The line says which.
struct InternalError : Error {
  explicit InternalError(const std::string& line) : Error(ExitCode::internal, line) {}
};

// SIGINT, SIGTERM or SIGHUP arrived; the run unwound and left nothing behind. `main` exits with 128 + signal.
class Interrupted : public std::runtime_error {
 public:
  explicit Interrupted(int signal_number);
  [[nodiscard]] int signal_number() const noexcept { return signal_; }

 private:
  int signal_;
};

}  // namespace ecosort
