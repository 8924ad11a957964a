// Decorator: lets requests fail, or move less than asked for, as a FaultPlan says (io/fault_plan.h).
#pragma once

#include <vector>

#include "io/fault_plan.h"
#include "io/queue.h"

namespace ecosort::io {

// An error and a count of zero complete without reaching the queue below; a short count shortens the request: to a multiple of
// the file's alignment, and never below one, so that a caller that goes on makes progress. Threads as in io/queue.h.
class FaultyQueue : public Queue {
 public:
  // Both outlive this.
  FaultyQueue(Queue& below, FaultPlan& plan) : below_(below), plan_(plan) {}

  [[nodiscard]] const char* backend_name() const noexcept override { return below_.backend_name(); }
  void submit(const Request& request) override;
  void wait(std::vector<Completion>& out, bool block) override;
  void notify() noexcept override { below_.notify(); }
  void cancel_streams() override { below_.cancel_streams(); }

 private:
  Queue& below_;
  FaultPlan& plan_;
  std::vector<Completion> decided_;  // by the plan, not yet reaped
};

}  // namespace ecosort::io
