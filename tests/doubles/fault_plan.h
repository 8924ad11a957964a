// Decides which operations of a run fail, and how: the shared order book of FaultyQueue and FaultyStorage.
//
// A fault is addressed by (role, operation, n-th): the global order of asynchronous operations is not reproducible, the order
// within one role and operation nearly is.
//
// Its text is ROLE:OPERATION:N:EFFECT[:once|persistent], several separated by commas, e.g. "run:write:3:ENOSPC",
// "input:read:1:short=1000:persistent", "output:rename:1:SIGKILL", "output:write:2:swap=100". EFFECT is the name of an errno; the
// name of a signal, which is raised before the operation is done as usual; or, for reads and writes, `short=N` (a count of at
// most N bytes), `zero`, or an alteration (see below). `persistent` means this and every later one; `once` is the default.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "io/file.h"
#include "io/queue.h"

namespace ecosort::io {

// Queue operations first, in the order of io::Operation; `sync` and `reserve` count those of the queue and of the storage.
// Operations on names alone (rename, remove, make_directory, ...) have no file: they count for the role `journal`, but
// publishing, which counts for its file's.
enum class FaultPoint : std::uint8_t {
  read,
  write,
  sync,
  release,
  reserve,  // io/queue.h
  open,
  create,
  set_size,
  attributes,
  link,
  rename,
  sync_directory,
  close,
  state,  // io/storage.h
  remove,
  make_directory,
  remove_directory,
  list,  // io/named_storage.h
};
constexpr std::size_t fault_point_count = 18;
[[nodiscard]] const char* to_string(FaultPoint point) noexcept;
[[nodiscard]] inline FaultPoint fault_point(Operation operation) noexcept { return static_cast<FaultPoint>(operation); }

// A broken drive or memory does this to data without a word.
enum class Alteration : std::uint8_t {
  flip,    // `flip`: one bit in the middle of what is moved
  swap,    // `swap=N`: its first N bytes and the next N change places
  repeat,  // `repeat=N`: its first N bytes also replace the next N
  lost,    // `lost`: a write that is reported as done and is not
  decay,   // `decay`: of what was read the last byte of every page changes afterwards: once the reader has waited again, with the
           // next write
};

struct Effect {
  enum class Kind : std::uint8_t { none, error, short_count, signal, alteration };
  Kind kind = Kind::none;
  int number = 0;         // errno or signal
  std::size_t bytes = 0;  // of a short count (0: nothing moves), or N of an alteration
  Alteration alteration = Alteration::flip;
};

struct Fault {
  Role role = Role::run;
  FaultPoint point = FaultPoint::write;
  std::uint64_t nth = 1;  // from 1
  Effect effect;
  bool is_persistent = false;
};

// UsageError that shows the form for a text that is none.
[[nodiscard]] std::vector<Fault> parse_faults(std::string_view text);

// Thread-safe.
class FaultPlan {
 public:
  FaultPlan() = default;
  explicit FaultPlan(std::vector<Fault> faults) : faults_(std::move(faults)) {}

  // Counts an operation and returns what is to happen to it. Signals have been raised when this returns (Kind::none then).
  [[nodiscard]] Effect next(Role role, FaultPoint point);

  // Operations counted so far: a sweep raises n until n > seen(), or until a run ends with fired() == 0.
  [[nodiscard]] std::uint64_t seen(Role role, FaultPoint point) const;
  [[nodiscard]] std::uint64_t fired() const;

 private:
  const std::vector<Fault> faults_;
  mutable std::mutex mutex_;
  std::array<std::array<std::uint64_t, fault_point_count>, 4> seen_{};
  std::uint64_t fired_ = 0;
};

}  // namespace ecosort::io
