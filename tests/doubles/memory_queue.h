// Backend "memory": serves the files of a MemoryStore (io/memory_store.h), whose make_queue() makes it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/random.h"
#include "doubles/memory_disk.h"
#include "io/queue.h"
#include "io/wakeup.h"

namespace ecosort::io {

class MemoryQueue : public Queue {
 public:
  MemoryQueue(std::shared_ptr<MemoryDisk> disk, unsigned depth)
      : disk_(std::move(disk)), depth_(depth), random_(disk_->options().seed) {}

  [[nodiscard]] const char* backend_name() const noexcept override { return "memory"; }
  void submit(const IoRequest& request) override;
  void wait(std::vector<Completion>& out, bool block) override;
  void notify() noexcept override { wakeup_.notify(); }

 private:
  struct Waiting {
    IoRequest request;
    std::uint64_t number = 0;  // of the change or sync on the disk
    int error = 0;             // what it will come to, known from the start
  };

  [[nodiscard]] int check(const IoRequest& request) const;
  [[nodiscard]] std::size_t draw_count(bool block);
  [[nodiscard]] Waiting draw();
  [[nodiscard]] std::int64_t perform(const Waiting& waiting);

  const std::shared_ptr<MemoryDisk> disk_;
  const unsigned depth_;
  Random random_;
  std::vector<Waiting> waiting_;  // in the order of submission
  Wakeup wakeup_;
};

}  // namespace ecosort::io
