#include "engine/fixed/reread.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "engine/fixed/output_check.h"

namespace ecosort::engine {

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
      memory_(bench.memory.allocate(2 * block_size_, "blocks to read the output back")),
      progress_(bench.progress) {}

Task<void> Reread::run() {
  Block present{memory_.data(), nullptr, 0}, next{memory_.data() + block_size_, nullptr, 0};
  if (range_.begin == range_.end) co_return;
  co_await read(present, range_.begin);
  for (std::uint64_t first = range_.begin; first < range_.end; first += present.count) {
    if (first > range_.begin) std::swap(present, next);
    if (const int signal_number = interrupted_ == nullptr ? 0 : interrupted_->load(); signal_number != 0)
      throw Interrupted(signal_number);
    TaskGroup ahead(reactor_.scope());
    if (first + present.count < range_.end) ahead.spawn(read(next, first + present.count));
    ahead.spawn(check(present));
    co_await ahead.join();
  }
}

Task<void> Reread::read(Block& block, std::uint64_t first) {
  block.count = std::min(block_records_, range_.end - first);
  const std::uint64_t begin = first * encoder_.record_size(), end = begin + block.count * encoder_.record_size();
  const std::uint64_t from = round_down(begin, file_.alignment()), to = round_up(end, file_.alignment());
  (void)co_await reactor_.read(file_, from, block.data, to - from, end - from);
  block.records = block.data + (begin - from);
}

Task<void> Reread::check(const Block& block) {
  Checked result;
  auto work = compute_.run([&] { result = check_records(block.records, block.count, encoder_); });
  co_await work;
  in_order_ &= result.in_order && (last_.empty() || encoder_.compare(last_.data(), block.records) <= 0);
  tally_ += result.tally;
  const std::byte* last = block.records + (block.count - 1) * encoder_.record_size();
  last_.assign(last, last + encoder_.record_size());
  progress_.add_bytes(block.count * encoder_.record_size());
}

}  // namespace ecosort::engine
