// Decorator: counts what goes through a queue and, on demand, reports every request to a sink.
//
// Turns "every byte is moved exactly twice" into an assertion, and the trace of a run into a replay without computing.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "io/queue.h"
#include "io/request_table.h"

namespace ecosort::io {

constexpr std::size_t role_count = 4;
constexpr std::size_t operation_count = 5;

struct OperationCount {
  std::uint64_t requests = 0;  // submitted
  std::uint64_t failed = 0;    // completed with a negative result
  std::uint64_t bytes = 0;     // moved (read, write) or asked for by a request that succeeded (release, reserve)
};

struct IoCounts {
  std::array<std::array<OperationCount, operation_count>, role_count> operations{};
  std::size_t in_flight = 0, most_in_flight = 0;
  // Time with nothing in flight between the first submission and now, as the coordinator sees it: a request is in flight until
  // it is reaped.
  std::chrono::nanoseconds idle{0};

  [[nodiscard]] const OperationCount& of(Role role, Operation operation) const {
    return operations[static_cast<std::size_t>(role)][static_cast<std::size_t>(operation)];
  }
  [[nodiscard]] std::uint64_t bytes(Operation operation) const;  // of all roles
};

// A request as it was submitted.
struct TraceEvent {
  Role role;
  std::uint64_t file_id;  // File::Facts::id
  Operation operation;
  std::uint64_t offset;
  std::size_t size;
  std::uint64_t order;    // 0, 1, 2, ...
  std::size_t in_flight;  // others in flight at that moment: a replay waits until it has as few
};
using TraceSink = std::function<void(const TraceEvent&)>;

// All calls but notify() belong to the coordinator.
class CountingQueue : public Queue {
 public:
  // `below` outlives this; `depth` is what it was made for.
  CountingQueue(Queue& below, unsigned depth, TraceSink sink = {});

  [[nodiscard]] IoCounts counts() const;

  [[nodiscard]] const char* backend_name() const noexcept override { return below_.backend_name(); }
  void submit(const IoRequest& request) override;
  void wait(std::vector<Completion>& out, bool block) override;
  void notify() noexcept override { below_.notify(); }
  void cancel_streams() override { below_.cancel_streams(); }

 private:
  using Clock = std::chrono::steady_clock;

  void count(const IoRequest& request, std::int64_t result);

  Queue& below_;
  const TraceSink sink_;
  RequestTable requests_;
  IoCounts counts_;
  std::uint64_t submitted_ = 0;
  Clock::time_point idle_since_;  // meaningful while nothing is in flight and something has been
};

}  // namespace ecosort::io
