#include "engine/fixed/reread.h"

#include <algorithm>

#include "base/errors.h"

namespace ecosort::engine::fixed {

namespace {

std::uint64_t blocks_for(const Bench& bench, std::uint64_t block_size) {
  constexpr std::uint64_t least = 2, most = 8;
  const std::uint64_t room = bench.memory.limit_bytes() - std::min(bench.memory.limit_bytes(), bench.memory.used_bytes());
  return std::clamp(room / block_size, least, most);
}

}  // namespace

Reread::Reread(Bench& bench, const records::Encoder& encoder, const io::File& file, RecordRange range, std::uint64_t block_bytes)
    : reactor_(bench.reactor),
      compute_(bench.compute),
      encoder_(encoder),
      file_(file),
      range_(range),
      block_records_(std::max<std::uint64_t>(block_bytes / encoder.record_size(), 1)),
      // A block of records begins and ends inside alignment units.
      block_size_(round_up(block_records_ * encoder.record_size(), std::max(file.alignment(), page_bytes)) +
                  2 * std::max(file.alignment(), page_bytes)),
      memory_(bench.memory.allocate(blocks_for(bench, block_size_) * block_size_, "blocks to read the output back")),
      next_(range.begin),
      checked_(bench.reactor.scope()),
      progress_(bench.progress) {
  for (std::byte* at = memory_.data(); at + block_size_ <= memory_.data() + memory_.size(); at += block_size_)
    blocks_.push_back({.data = at});
}

Task<void> Reread::run() {
  TaskGroup work(reactor_.scope());
  work.spawn(check_all(work));
  co_await work.join();
}

// The drive always has requests: a block is read again into the memory of one that was checked.
Task<void> Reread::check_all(TaskGroup& work) {
  for (Block& block : blocks_) read_next(work, block);
  std::size_t present = 0;
  for (std::uint64_t first = range_.begin; first < range_.end; present = (present + 1) % blocks_.size()) {
    Block& block = blocks_[present];
    while (!block.is_checked) co_await checked_.changed();
    if (const int signal_number = interrupted_ == nullptr ? 0 : interrupted_->load(); signal_number != 0)
      throw Interrupted(signal_number);
    append(block);
    first += block.count;
    read_next(work, block);
  }
}

void Reread::read_next(TaskGroup& work, Block& block) {
  if (next_ == range_.end) return;
  block.is_checked = false;
  work.spawn(read_and_check(block, next_));
  next_ += std::min(block_records_, range_.end - next_);
}

Task<void> Reread::read_and_check(Block& block, std::uint64_t first) {
  block.count = std::min(block_records_, range_.end - first);
  const std::uint64_t begin = range_.head_bytes + first * encoder_.record_size(),
                      end = begin + block.count * encoder_.record_size();
  const std::uint64_t from = round_down(begin, file_.alignment()), to = round_up(end, file_.alignment());
  (void)co_await reactor_.read(file_, from, block.data, to - from, end - from);
  block.records = block.data + (begin - from);
  auto work = compute_.run([&] { block.result = check_records(block.records, block.count, encoder_); });
  co_await work;
  block.is_checked = true;
  checked_.notify();
}

// To the blocks before it.
void Reread::append(const Block& block) {
  in_order_ &= block.result.in_order && (last_.empty() || encoder_.compare(last_.data(), block.records) <= 0);
  tally_ += block.result.tally;
  const std::byte* last = block.records + (block.count - 1) * encoder_.record_size();
  last_.assign(last, last + encoder_.record_size());
  progress_.add_bytes(block.count * encoder_.record_size());
}

}  // namespace ecosort::engine::fixed
