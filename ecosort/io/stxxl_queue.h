// Backend "stxxl": the file, request and disk-queue layer of STXXL 1.4.1, for comparison with its own sorters.
// Only built where STXXL is installed, as a module (io/stxxl_module.h). Everything that knows STXXL is in stxxl_queue.cpp.
//
// STXXL moves whole blocks at multiples of 4096 with pread-like semantics added on top; what it has no notion of (streams,
// sync, release, reserve, odd offsets) is served by a small pool of ours.
#pragma once

#include <memory>

#include "io/queue.h"

namespace ecosort::io {

class StxxlQueue : public Queue {
 public:
  // Starts the disk threads and the helper pool. Sets STXXLLOGFILE and STXXLERRLOGFILE to /dev/null unless they are set, so no
  // other thread may be reading the environment the first time.
  explicit StxxlQueue(unsigned depth);
  ~StxxlQueue() override;

  [[nodiscard]] const char* backend_name() const noexcept override { return "stxxl"; }
  void submit(const IoRequest& request) override;
  void wait(std::vector<Completion>& out, bool block) override;
  void notify() noexcept override;
  void cancel_streams() override;

 private:
  class Disks;
  std::unique_ptr<Disks> disks_;
};

}  // namespace ecosort::io

// The program asks the module for this. The caller owns the queue.
extern "C" ecosort::io::Queue* ecosort_make_stxxl_queue(unsigned depth);
