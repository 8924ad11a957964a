#include "job/session.h"

#include "job/prepare_rows.h"

namespace ecosort::job {

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
