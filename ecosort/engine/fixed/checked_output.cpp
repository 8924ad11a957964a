#include "engine/fixed/checked_output.h"

#include <algorithm>
#include <cstring>

#include "base/errors.h"

namespace ecosort::engine::fixed {

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
  std::uint64_t kept = count;
  if (unique_) kept = co_await drop_duplicates(records, count, checked);
  if (!last_record_.empty() && kept > 0) checked.add_pair(compare_pair(last_record_.data(), records, encoder_));
  if (!checked.in_order) throw VerificationError("the merged records are not in order: the output was not written");
  if (kept > 0) last_record_.assign(records + (kept - 1) * size, records + kept * size);
  merged_.tally += checked.tally;
  merged_.equal_pairs += checked.equal_pairs;
  co_await writer_.put(records, kept * size);
}

Task<std::uint64_t> CheckedOutput::drop_duplicates(std::byte* records, std::uint64_t count, Checked& checked) {
  std::uint64_t kept = 0;
  auto work = compute_.run([&] {
    kept = keep_first_of_equals(records, count, last_record_.empty() ? nullptr : last_record_.data(), encoder_, merged_.dropped);
    const Checked rest = check_records(records, kept, encoder_);
    checked.tally = rest.tally;
    checked.in_order &= rest.in_order;
    checked.equal_pairs = rest.equal_pairs;
  });
  co_await work;
  co_return kept;
}

}  // namespace ecosort::engine::fixed
