#include "job/order_sample.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/memory.h"
#include "formats/records/encoder.h"

namespace ecosort::job {
namespace {

constexpr std::uint64_t samples = 16;  // of each input

// The record at this place of the file, in `memory`; null where it cannot be read.
const std::byte* record_at(const io::File& file, std::uint64_t offset, std::uint32_t size, const Buffer& memory) {
  const std::uint64_t from = round_down(offset, file.alignment()), to = round_up(offset + size, file.alignment());
  ssize_t got = -1;
  do got = ::pread(file.fd(), memory.data(), to - from, static_cast<off_t>(from));
  while (got < 0 && errno == EINTR);
  const bool is_whole = got >= 0 && static_cast<std::uint64_t>(got) >= offset + size - from;
  return is_whole ? memory.data() + (offset - from) : nullptr;
}

bool ascends(const engine::fixed::Input& input, const records::Encoder& encoder, const Buffer& first, const Buffer& second) {
  if (input.file->facts().is_stream || input.records <= samples) return false;
  const Buffer *next = &first, *spare = &second;
  const std::byte* before = nullptr;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const std::uint64_t number = i * (input.records - 1) / (samples - 1);
    const std::byte* const present =
        record_at(*input.file, input.begin() + number * encoder.record_size(), encoder.record_size(), *next);
    if (present == nullptr || (before != nullptr && encoder.compare(before, present) > 0)) return false;
    before = present;
    std::swap(next, spare);
  }
  return true;
}

}  // namespace

bool samples_ascend(const planner::RecordPlan& plan, const std::vector<engine::fixed::Input>& inputs) {
  if (plan.merge.stored_runs == 0 || inputs.empty()) return false;
  const records::Encoder encoder(plan.wanted.format);
  const std::uint64_t unit = std::max<std::uint64_t>(plan.wanted.input_alignment, page_bytes);
  const std::uint64_t each = round_up(encoder.record_size(), unit) + unit;
  MemoryBudget memory(2 * each);
  const Buffer first = memory.allocate(each, "a record", Pages::small), second = memory.allocate(each, "a record", Pages::small);
  return std::ranges::all_of(inputs, [&](const engine::fixed::Input& input) { return ascends(input, encoder, first, second); });
}

}  // namespace ecosort::job
