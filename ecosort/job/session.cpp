#include "job/session.h"

#include "job/prepare_rows.h"

namespace ecosort::job {

void check_queue_name(const std::string& io) { (void)io::parse_backend(io); }

unsigned queue_depth(const planner::RecordPlan& plan) noexcept { return plan.read_depth + plan.write_depth + 4; }

void Session::open_queue(const std::string& io, unsigned depth) {
  close_queue();
  backend_ = io::make_queue(io::parse_backend(io), depth);
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
