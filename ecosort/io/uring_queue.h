// Backend "uring": io_uring through liburing. The default; needs neither threads of ours nor locked memory (no registered
// buffers). Kernel workers serve what cannot be asynchronous (buffered files, fallocate, sync): at most 8 at a time.
#pragma once

#include <memory>
#include <stdexcept>
#include <vector>

#include "io/queue.h"
#include "io/request_table.h"
#include "io/stream_order.h"
#include "io/wakeup.h"

namespace ecosort::io {

// The kernel does not let this process have an io_uring (EPERM or ENOSYS in containers, ENOMEM with little lockable memory on
// old kernels) or it lacks an operation. what(): "io_uring is not available here (reason)".
struct UringRefused : std::runtime_error {
  explicit UringRefused(int error_number);
};

class UringQueue : public Queue {
 public:
  explicit UringQueue(unsigned depth);  // throws UringRefused
  ~UringQueue() override;

  [[nodiscard]] const char* backend_name() const noexcept override { return "uring"; }
  void submit(const IoRequest& request) override;
  void wait(std::vector<Completion>& out, bool block) override;
  void notify() noexcept override { wakeup_.notify(); }
  void cancel_streams() override;

 private:
  struct Ring;  // keeps liburing out of this header

  // A request on a stream that is with the system.
  struct OnStream {
    std::uint64_t number;
    std::int64_t position = -1;  // of a write into a file, where it begins
    std::size_t moved = 0;       // of a write that was taken in part
    bool is_polling = false;     // until a stream that somebody made non-blocking is ready
  };

  void start(const IoRequest& request, std::uint64_t number);
  void start_on_stream(const IoRequest& request);
  [[nodiscard]] static std::int64_t position_of(int fd);
  [[nodiscard]] static IoRequest rest_of(IoRequest request, const OnStream& started);
  [[nodiscard]] bool carry_on(OnStream& started, std::int64_t result);
  void end(std::uint64_t number, std::int64_t result, std::vector<Completion>& out);
  void end_on_stream(std::uint64_t number, std::int64_t result, std::vector<Completion>& out);
  void reap(std::vector<Completion>& out);
  void enter(bool sleep);
  void watch_wakeup();

  Wakeup wakeup_;
  RequestTable requests_;
  StreamOrder streams_;  // its tags are numbers of requests_
  std::vector<OnStream> on_streams_;
  std::vector<Completion> refused_;  // stream requests that came after cancel_streams()
  bool cancelled_ = false;
  unsigned fruitless_ = 0;  // entries in a row that the kernel put off
  std::unique_ptr<Ring> ring_;
};

}  // namespace ecosort::io
