#include "doubles/memory_queue.h"

#include <cerrno>

#include "base/errors.h"

namespace ecosort::io {

namespace {

using Change = StoreEvent::Change;

// The data is copied when a write is submitted: that is what a power cut in between may find.
[[nodiscard]] Change change_of(const IoRequest& request, bool with_data) {
  Change change{.kind = Change::Kind::write, .offset = request.offset, .size = request.size};
  if (request.operation == Operation::release) change.kind = Change::Kind::release;
  if (request.operation == Operation::reserve) change.kind = Change::Kind::reserve;
  if (with_data && request.operation == Operation::write)
    change.data = std::make_shared<const std::vector<std::byte>>(request.data, request.data + request.size);
  return change;
}

}  // namespace

// Refuses what the kernel would refuse before anything happens.
int MemoryQueue::check(const IoRequest& request) const {
  if (OpenInode::of(*request.file) == 0) return EBADF;
  if (request.operation == Operation::sync) return 0;
  const bool moves = request.operation == Operation::read || request.operation == Operation::write;
  if (!moves) return request.size == 0 ? EINVAL : 0;
  if (request.operation == Operation::write && request.file->role() == Role::input) return EBADF;
  const std::size_t unit = request.file->alignment();
  const auto address = reinterpret_cast<std::uintptr_t>(request.data);
  return request.offset % unit != 0 || request.size % unit != 0 || address % unit != 0 ? EINVAL : 0;
}

void MemoryQueue::submit(const IoRequest& request) {
  if (waiting_.size() >= depth_) throw InternalError("more I/O requests in flight than the queue was made for");
  Waiting waiting{request, 0, check(request)};
  if (waiting.error == 0 && request.operation != Operation::read) {
    const std::uint64_t inode = OpenInode::of(*request.file);
    waiting.number = request.operation == Operation::sync
                         ? disk_->issue_sync(inode)
                         : disk_->issue(inode, change_of(request, disk_->options().records_events));
  }
  waiting_.push_back(waiting);
}

std::int64_t MemoryQueue::perform(const Waiting& waiting) {
  const IoRequest& request = waiting.request;
  if (waiting.error != 0) return -waiting.error;
  const std::uint64_t inode = OpenInode::of(*request.file);
  switch (request.operation) {
    case Operation::read:
      return disk_->read(inode, request.offset, request.data, request.size);
    case Operation::sync:
      disk_->complete_sync(inode, waiting.number);
      return 0;
    case Operation::write:
    case Operation::release:
    case Operation::reserve:
      break;
  }
  return disk_->complete(inode, waiting.number, change_of(request, true));
}

// Mostly one, so that a cut finds many requests in flight; now and then a burst.
std::size_t MemoryQueue::draw_count(bool block) {
  if (waiting_.empty()) return 0;
  if (disk_->options().completes_in_order) return waiting_.size();
  if (!block && random_.coin()) return 0;
  constexpr std::uint64_t burst_one_in = 4;
  return random_.below(burst_one_in) == 0 ? 1 + random_.below(waiting_.size()) : 1;
}

MemoryQueue::Waiting MemoryQueue::draw() {
  const std::size_t at = disk_->options().completes_in_order ? 0 : random_.below(waiting_.size());
  const Waiting chosen = waiting_[at];
  waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(at));
  return chosen;
}

void MemoryQueue::wait(std::vector<Completion>& out, bool block) {
  while (true) {
    const bool is_notified = wakeup_.take_notification();
    const std::size_t count = draw_count(block && !is_notified);
    for (std::size_t i = 0; i < count; ++i) {
      const Waiting waiting = draw();
      out.push_back({waiting.request.tag, perform(waiting)});
    }
    if (count > 0 || is_notified || !block) return;
    wakeup_.sleep();
  }
}

}  // namespace ecosort::io
