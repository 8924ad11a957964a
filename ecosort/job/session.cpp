#include "job/session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/errors.h"
#include "job/prepare_rows.h"

namespace ecosort::job {

namespace {

// A program that writes standard input may name a second pipe, in which a byte says that it has written everything.
io::StandardStreams streams_of_process() {
  io::StandardStreams streams;
  const char* const value = std::getenv("ECOSORT_INPUT_COMPLETE");  // NOLINT(concurrency-mt-unsafe): no one sets variables
  if (value == nullptr) return streams;
  const std::string_view text = value;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), streams.input_complete);
  struct stat status{};
  if (error != std::errc() || stop != text.data() + text.size() || ::fstat(streams.input_complete, &status) != 0 ||
      !S_ISFIFO(status.st_mode))
    throw UsageError(fmt::format("ECOSORT_INPUT_COMPLETE: '{}' is not the number of an open pipe", text));
  (void)::fcntl(streams.input_complete, F_SETFD, FD_CLOEXEC);
  return streams;
}

}  // namespace

Session::Session() : storage_(streams_of_process()) {}

unsigned queue_depth(const planner::RecordPlan& plan) noexcept { return plan.read_depth + plan.write_depth + 4; }

io::Backend make_record_queue(const std::string& io, const planner::RecordPlan& plan) {
  const io::BackendChoice choice = io::parse_backend(io);
  return plan.is_small && choice == io::BackendChoice::auto_ ? io::make_queue_for_small_input(queue_depth(plan))
                                                             : io::make_queue(choice, queue_depth(plan));
}

void Session::open_queue(const std::string& io, unsigned depth) {
  close_queue();
  backend_ = io::make_queue(io::parse_backend(io), depth);
}

void Session::open_queue(const std::string& io, const planner::RecordPlan& plan) {
  close_queue();
  backend_ = make_record_queue(io, plan);
}

void Session::open_queue(const std::string& io, const PreparedLines& prepared) {
  close_queue();
  backend_ = make_row_queue(io, prepared);
}

void Session::close_queue() noexcept {
  traced_.reset();
  backend_.queue.reset();
}

}  // namespace ecosort::job
