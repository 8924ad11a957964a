// Decorator: lets requests fail, move less than asked for, or move other data, as a FaultPlan says (io/fault_plan.h).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "doubles/fault_plan.h"
#include "io/queue.h"

namespace ecosort::io {

// An error and a count of zero complete without reaching the queue below; a short count shortens the request: to a multiple of
// the file's alignment, and never below one, so that a caller that continues makes progress. Written data is altered in the
// caller's memory. Reads to be altered need tags that differ from those of all others in flight. Behind a write on a stream that
// fails others fail, too, until it has been reaped (io/queue.h). Threads as there.
class FaultyQueue : public Queue {
 public:
  // Both outlive this.
  FaultyQueue(Queue& below, FaultPlan& plan) : below_(below), plan_(plan) {}

  [[nodiscard]] const char* backend_name() const noexcept override { return below_.backend_name(); }
  void submit(const IoRequest& request) override;
  void wait(std::vector<Completion>& out, bool block) override;
  void notify() noexcept override { below_.notify(); }
  void cancel_streams() override { below_.cancel_streams(); }

 private:
  struct Read {
    IoRequest request;
    Effect effect;
  };
  struct Range {
    std::byte* data;
    std::size_t size;
  };

  void fail(const IoRequest& request, std::int64_t result);
  void submit_altered(const IoRequest& request, const Effect& effect);
  void alter_read(const Completion& completion);
  void let_decay();

  Queue& below_;
  FaultPlan& plan_;
  std::vector<Completion> decided_;                                   // by the plan, not yet reaped
  std::vector<std::pair<const File*, std::int64_t>> broken_streams_;  // by what is decided
  std::vector<Read> reads_;                                           // to be altered when they are complete
  std::vector<Range> arrived_;                                        // to decay: reaped by the last wait
  std::vector<Range> decaying_;                                       // reaped before it: changes with the next write
};

}  // namespace ecosort::io
