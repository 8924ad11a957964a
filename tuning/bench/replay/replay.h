// Replays the requests of a trace through the same backends, files and system calls as the sort, without its computing.
//
// Its time is the floor that no sort with these requests can go below on this drive at this moment. A drive that shares caches
// with the processors serves a few buffers faster than memory that is larger than the caches, which a sort needs: with
// `memory_bytes` the replay uses as much.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/memory.h"
#include "io/posix_storage.h"
#include "io/queue.h"
#include "replay/trace.h"

namespace ecosort::bench {

// Says when a request may be submitted, its predecessors in the trace having been:
//   recorded  as soon as as many requests have completed as had when the sort submitted it. Neither more serial nor more
//             parallel than the sort was; waits that its computing caused turn into waits for requests.
//   depth     as soon as fewer than `read_depth` reads or `write_depth` writes are in flight. As parallel as the sort could
//             have been had computing taken no time. A request whose OTHERS is 0 waits for all before it.
enum class ReplayPace : std::uint8_t { recorded, depth };

struct ReplayJob {
  std::string input, output;
  std::vector<std::string> directories;  // for runs
  ReplayPace pace = ReplayPace::recorded;
  bool reserve = true;                         // run files and the start of the output when they are created, as the sort does
  unsigned read_depth = 16, write_depth = 16;  // for Pace::depth
  std::uint64_t memory_bytes = 0;              // that the buffers take turns through; 0: the same few are used again and again
};

struct ReplayReport {
  std::uint64_t requests = 0, bytes_read = 0, bytes_written = 0;
  double wall_s = 0, io_idle_s = 0;  // idle: no request in flight
};

// Writes the output, whose content means nothing, and syncs it as the sort does; run files leave no trace. IoError.
[[nodiscard]] ReplayReport replay(const Trace& trace, const ReplayJob& job, io::Storage& storage, io::Queue& queue);

// Requests that will be in flight at most: the depth that the queue must have.
[[nodiscard]] unsigned depth_of(const Trace& trace, const ReplayJob& job);

}  // namespace ecosort::bench
