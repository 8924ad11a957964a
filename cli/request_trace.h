// A record of every I/O request of a run, as text. A benchmark replays it without the computing, to see how fast the drive
// serves just these requests (tuning/bench).
#pragma once

#include <cstdio>
#include <string>

#include "job/session.h"

namespace ecosort::cli {

// The file:
//   ecosort.trace/1
//   OPERATION ROLE FILE OFFSET SIZE OTHERS
// One line per request in the order of submission; sizes and offsets in bytes; FILE is the number that the sort gave the
// file; OTHERS is how many requests were in flight at that moment, so line i (from 0) followed the completion of i - OTHERS.
// A failure to write is kept and reported by close(). Coordinator only.
class RequestTrace {
 public:
  explicit RequestTrace(const std::string& path);  // IoError
  ~RequestTrace();
  RequestTrace(const RequestTrace&) = delete;
  RequestTrace& operator=(const RequestTrace&) = delete;

  void add(const io::TraceEvent& event);
  void close();  // IoError

 private:
  std::string path_;
  std::FILE* file_;
};

}  // namespace ecosort::cli
