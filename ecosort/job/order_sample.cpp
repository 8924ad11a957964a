#include "job/order_sample.h"

#include <algorithm>
#include <span>

#include "base/memory.h"
#include "formats/records/encoder.h"
#include "io/read_at.h"

namespace ecosort::job {
namespace {

constexpr std::uint64_t samples = 16;  // of each input

bool ascends(const engine::fixed::Input& input, const records::Encoder& encoder, const Buffer& first, const Buffer& second) {
  if (input.file->facts().is_stream || input.records <= samples) return false;
  const Buffer *next = &first, *spare = &second;
  const std::byte* before = nullptr;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const std::uint64_t number = i * (input.records - 1) / (samples - 1);
    const std::span<const std::byte> present =
        io::try_read_at(*input.file, input.begin() + number * encoder.record_size(), encoder.record_size(), *next);
    if (present.size() < encoder.record_size()) return false;  // it cannot be read
    if (before != nullptr && encoder.compare(before, present.data()) > 0) return false;
    before = present.data();
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
