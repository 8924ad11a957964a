#include "engine/fixed/checked_output.h"

#include <algorithm>
#include <cstring>

#include "base/errors.h"

namespace ecosort::engine::fixed {

CheckedOutput::CheckedOutput(WriteBehind& writer, Compute& compute, const records::Encoder& encoder, const RecordGroups& groups)
    : writer_(writer),
      compute_(compute),
      encoder_(encoder),
      policy_(groups.policy),
      output_size_(groups.output_bytes(encoder.record_size())) {
  if (policy_.is_on) groups_.emplace(groups);
}

Task<void> CheckedOutput::put_head(std::span<const std::byte> head) {
  for (std::size_t done = 0; done < head.size();) {
    const std::size_t part = std::min<std::size_t>(head.size() - done, writer_.capacity_bytes());
    std::byte* const to = co_await writer_.take(done);
    std::memcpy(to, head.data() + done, part);
    co_await writer_.put(to, part);
    done += part;
  }
  head_bytes_ = head.size();
}

Task<void> CheckedOutput::put(std::byte* records, std::uint64_t count, Checked checked) {
  const std::uint32_t size = encoder_.record_size();
  std::byte* const place = records - lead_bytes();
  if (count == 0) co_return co_await writer_.put(place, 0);
  std::uint64_t bytes = count * size;
  if (!last_record_.empty()) checked.add_pair(compare_pair(last_record_.data(), records, encoder_));
  if (!checked.in_order) throw VerificationError("the merged records are not in order: the output was not written");
  last_record_.assign(records + (count - 1) * size, records + count * size);
  if (groups_) {
    auto work = compute_.run([&] { bytes = groups_->reduce(records, count, place, merged_.tally, merged_.dropped); });
    co_await work;
  } else {
    merged_.tally += checked.tally;
    merged_.equal_pairs += checked.equal_pairs;
  }
  co_await writer_.put(place, bytes);
}

Task<void> CheckedOutput::finish() {
  if (groups_) co_await end_groups();
  co_await writer_.finish();
}

Task<void> CheckedOutput::finish_after(io::Reactor& reactor, TaskGroup& makers) {
  co_await makers.settle();
  TaskGroup ending(reactor.scope());
  if (!reactor.scope().failed()) ending.spawn(finish());
  co_await ending.settle();
  co_await settle();
  reactor.scope().throw_if_failed();
}

Task<void> CheckedOutput::end_groups() {
  std::byte* const place = co_await writer_.take(head_bytes_ + (records_before_ + records_put()) * output_size_);
  const std::uint64_t bytes = groups_->end(place, merged_.tally, merged_.dropped);
  co_await writer_.put(place, bytes);
  merged_.records_of_groups = groups_->records_of_groups();
  if (!policy_.adds_up(merged_.records_of_groups, merged_.tally.hash.count, merged_.dropped.hash.count))
    throw VerificationError("the counts do not add up to the records: the output was not written");
}

}  // namespace ecosort::engine::fixed
