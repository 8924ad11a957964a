#include "job/session.h"

#include <utility>

namespace ecosort::job {

void check_queue_name(const std::string& io) { (void)io::parse_backend(io); }

void Session::open_queue(const std::string& io, unsigned depth) { use(io::make_queue(io::parse_backend(io), depth)); }

void Session::use(io::Backend backend) {
  traced_.reset();
  backend_ = std::move(backend);
}

}  // namespace ecosort::job
