#include "cli/request_trace.h"

#include <fmt/format.h>

#include <cerrno>
#include <utility>

#include "base/errors.h"

namespace ecosort::cli {

RequestTrace::RequestTrace(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "we")) {
  if (file_ == nullptr) throw IoError::from_call("create", path, errno);
  std::fputs("ecosort.trace/1\n", file_);
}

RequestTrace::~RequestTrace() {
  if (file_ != nullptr) std::fclose(file_);
}

void RequestTrace::add(const io::TraceEvent& event) {
  const std::string line = fmt::format("{} {} {} {} {} {}\n", to_string(event.operation), to_string(event.role), event.file_id,
                                       event.offset, event.size, event.in_flight);
  std::fputs(line.c_str(), file_);
}

void RequestTrace::close() {
  const bool failed = std::ferror(file_) != 0;
  if (std::fclose(std::exchange(file_, nullptr)) != 0 || failed) throw IoError::from_call("write", path_, errno);
}

}  // namespace ecosort::cli
