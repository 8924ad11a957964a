// Reads the request trace of a sort (ecosort sort --trace; the format is described in cli/request_trace.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/queue.h"

namespace ecosort::bench {

struct TracedRequest {
  io::Operation operation;
  std::uint32_t file;    // index into Trace::files
  std::uint64_t offset;  // bytes
  std::uint64_t size;    // bytes; 0 for a sync
  std::uint32_t others;  // requests in flight when it was submitted
};

// The trace describes a file.
struct TracedFile {
  io::Role role;
  std::uint64_t number;                             // as the sort numbered it
  std::uint64_t end = 0;                            // bytes; where its last request ends
  std::uint64_t reserves_from = ~std::uint64_t{0};  // bytes; what lies before it was reserved when the file was created
  std::size_t last_request = 0;                     // index of the last request on it
};

struct Trace {
  std::vector<TracedRequest> requests;
  std::vector<TracedFile> files;
  std::size_t largest_bytes = 0;  // of one transfer
  std::uint32_t most_in_flight = 0;
};

// UsageError with the line number for what is no such trace.
[[nodiscard]] Trace read_trace(const std::string& path);

}  // namespace ecosort::bench
