#include "io/counting_queue.h"

#include <algorithm>

namespace ecosort::io {

std::uint64_t IoCounts::bytes(Operation operation) const {
  std::uint64_t sum = 0;
  for (const auto& of_role : operations) sum += of_role[static_cast<std::size_t>(operation)].bytes;
  return sum;
}

CountingQueue::CountingQueue(Queue& below, unsigned depth, TraceSink sink)
    : below_(below), sink_(std::move(sink)), requests_(depth) {}

void CountingQueue::submit(const IoRequest& request) {
  IoRequest numbered = request;
  const std::size_t others = requests_.size();
  numbered.tag = requests_.put(request);
  below_.submit(numbered);
  if (others == 0 && submitted_ > 0) counts_.idle += Clock::now() - idle_since_;
  if (sink_)
    sink_({request.file->role(), request.file->facts().id, request.operation, request.offset, request.size, submitted_, others});
  ++submitted_;
  ++counts_.operations[static_cast<std::size_t>(request.file->role())][static_cast<std::size_t>(request.operation)].requests;
  counts_.most_in_flight = std::max(counts_.most_in_flight, others + 1);
}

void CountingQueue::count(const IoRequest& request, std::int64_t result) {
  OperationCount& one =
      counts_.operations[static_cast<std::size_t>(request.file->role())][static_cast<std::size_t>(request.operation)];
  const bool moves = request.operation == Operation::read || request.operation == Operation::write;
  if (result < 0)
    ++one.failed;
  else
    one.bytes += moves ? static_cast<std::uint64_t>(result) : request.size;
}

void CountingQueue::wait(std::vector<Completion>& out, bool block) {
  const std::size_t before = out.size();
  below_.wait(out, block);
  for (std::size_t i = before; i < out.size(); ++i) {
    const IoRequest request = requests_.take(out[i].tag);
    count(request, out[i].result);
    out[i].tag = request.tag;
  }
  if (out.size() > before && requests_.size() == 0) idle_since_ = Clock::now();
}

IoCounts CountingQueue::counts() const {
  IoCounts now = counts_;
  now.in_flight = requests_.size();
  if (now.in_flight == 0 && submitted_ > 0) now.idle += Clock::now() - idle_since_;
  return now;
}

}  // namespace ecosort::io
