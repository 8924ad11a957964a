#include "doubles/throttled_queue.h"

#include <poll.h>

#include <algorithm>

namespace ecosort::io {

ThrottledQueue::ThrottledQueue(Queue& below, unsigned depth, const Drive& drive)
    : below_(below), drive_(drive), requests_(depth) {}

void ThrottledQueue::submit(const IoRequest& request) {
  IoRequest numbered = request;
  numbered.tag = requests_.put(request);
  below_.submit(numbered);
}

ThrottledQueue::Clock::time_point ThrottledQueue::due(const IoRequest& request, std::int64_t result) {
  const auto now = Clock::now();
  const bool moves = request.operation == Operation::read || request.operation == Operation::write;
  if (!moves || result <= 0 || request.file->facts().is_stream) return now;
  Clock::time_point& free_at = free_at_[drive_.is_duplex && request.operation == Operation::write ? 1 : 0];
  const std::chrono::duration<double> takes(static_cast<double>(result) / drive_.bytes_per_s);
  // A coordinator that came late does not make the drive slower than it is, by more than a moment.
  constexpr auto moment = std::chrono::milliseconds(20);
  free_at = std::max(free_at, now - moment) + std::chrono::duration_cast<Clock::duration>(takes);
  return free_at;
}

void ThrottledQueue::take_from_below(bool block) {
  arrived_.clear();
  below_.wait(arrived_, block);
  for (Completion& completion : arrived_) {
    const IoRequest request = requests_.take(completion.tag);
    completion.tag = request.tag;
    served_.push_back({due(request, completion.result), completion});
  }
}

bool ThrottledQueue::hand_over(std::vector<Completion>& out) {
  const auto now = Clock::now();
  const std::size_t before = out.size();
  for (const Served& served : served_)
    if (served.due <= now) out.push_back(served.completion);
  std::erase_if(served_, [&](const Served& served) { return served.due <= now; });
  return out.size() > before;
}

void ThrottledQueue::sleep_until_due() const noexcept {
  const auto first = std::ranges::min_element(served_, {}, &Served::due)->due;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(first - Clock::now());
  pollfd ring{wakeup_.fd(), POLLIN, 0};
  (void)::poll(&ring, 1, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1000)));
}

void ThrottledQueue::wait(std::vector<Completion>& out, bool block) {
  while (true) {
    take_from_below(block && served_.empty());
    const bool is_notified = wakeup_.take_notification();
    if (pollfd ring{wakeup_.fd(), POLLIN, 0}; ::poll(&ring, 1, 0) > 0) wakeup_.sleep();  // takes the rings
    if (hand_over(out) || !block || is_notified) return;
    if (served_.empty()) return;  // the queue below was notified
    sleep_until_due();
  }
}

void ThrottledQueue::notify() noexcept {
  wakeup_.notify();
  below_.notify();
}

}  // namespace ecosort::io
