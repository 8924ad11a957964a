// Decorator: a drive that moves so many bytes a second, whatever the one below could do.
//
// Requests are served in the order in which the queue below has done them, one after the other: a request of n bytes ends n /
// rate seconds after the one before it, or after its own begin where that is later. Reads and writes share one rate (a drive, or
// a bus, that does either), or have one each (full duplex). Everything else passes at once.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "io/queue.h"
#include "io/request_table.h"
#include "io/wakeup.h"

namespace ecosort::io {

// All calls but notify() belong to the coordinator. Streams are not throttled.
class ThrottledQueue : public Queue {
 public:
  struct Drive {
    double bytes_per_s = 1e8;
    bool is_duplex = false;
  };

  // `below` outlives this; `depth` is what it was made for.
  ThrottledQueue(Queue& below, unsigned depth, const Drive& drive);

  [[nodiscard]] const char* backend_name() const noexcept override { return below_.backend_name(); }
  void submit(const IoRequest& request) override;
  void wait(std::vector<Completion>& out, bool block) override;
  void notify() noexcept override;
  void cancel_streams() override { below_.cancel_streams(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Served {
    Clock::time_point due;
    Completion completion;
  };

  void take_from_below(bool block);
  [[nodiscard]] Clock::time_point due(const IoRequest& request, std::int64_t result);
  [[nodiscard]] bool hand_over(std::vector<Completion>& out);
  void sleep_until_due() const noexcept;

  Queue& below_;
  Drive drive_;
  RequestTable requests_;
  Clock::time_point free_at_[2];  // when reads, and writes, of before are done
  std::vector<Completion> arrived_;
  std::vector<Served> served_;  // not handed over yet
  Wakeup wakeup_;
};

}  // namespace ecosort::io
