#include "planner/gather_plan.h"

#include <algorithm>
#include <numeric>

#include "formats/records/encoder.h"
#include "formats/records/record_table.h"
#include "planner/arithmetic.h"

namespace ecosort::planner {

namespace {

constexpr std::uint64_t most_reads = 64;  // in flight
constexpr std::uint64_t most_batch_bytes = std::uint64_t{1} << 20U;
constexpr unsigned blocks_of_output = 4;

// Words of a key are loaded with bytes around them.
constexpr std::uint64_t around_key = 16;

Gathering gathering_of(const Wanted& wanted) {
  const records::RecordFormat& format = wanted.format;
  Gathering gathering{.begin = format.record_size, .key_bytes = records::Encoder(format).key_length()};
  for (const RecordKey& key : format.keys) {
    gathering.begin = std::min<std::uint64_t>(gathering.begin, key.offset);
    gathering.end = std::max<std::uint64_t>(gathering.end, std::uint64_t{key.offset} + key.length);
  }
  gathering.begin -= std::min(gathering.begin, around_key);
  gathering.end = std::min<std::uint64_t>(gathering.end + around_key, format.record_size);
  constexpr std::uint64_t checksum_bytes = 8;
  gathering.index_bytes = wanted.input_records * (gathering.key_bytes + checksum_bytes + 2 * entry_bytes) +
                          div_up(wanted.input_records, 8) + 4 * page_bytes;  // a bit of each says whether it was gathered
  gathering.read_block_bytes = round_up(format.record_size, page_bytes) + 2 * transfer_unit(wanted);
  return gathering;
}

// Returns what is read of an input where bytes [begin, end) of each record are.
std::uint64_t bytes_of_units(const InputExtent& input, std::uint64_t size, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t last = input.start_bytes + input.records * size;
  const std::uint64_t period = input.alignment / std::gcd(input.alignment, size);
  std::uint64_t bytes = 0;
  for (std::uint64_t first = 0; first < std::min(period, input.records); ++first) {
    const std::uint64_t record = input.start_bytes + first * size;
    const std::uint64_t units = round_up(record + end, input.alignment) - round_down(record + begin, input.alignment);
    bytes += units * div_up(input.records - first, period);
  }
  if (input.records == 0) return 0;
  const std::uint64_t reach = round_up(last - size + end, input.alignment);
  return bytes - (reach > last ? reach - last : 0);
}

}  // namespace

std::optional<RecordPlan> plan_gather(const RecordPlan& plan) {
  const Wanted& wanted = plan.wanted;
  if (plan.shape != Shape::two_pass && plan.shape != Shape::multi_pass) return std::nullopt;
  if (wanted.format.record_size < least_gathered_bytes || !wanted.compression.is_none() || wanted.checksum) return std::nullopt;
  if (wanted.run_records != 0 || wanted.count_bytes != 0 || wanted.input_records > records::RecordTable::most_records)
    return std::nullopt;
  RecordPlan found;
  found.wanted = wanted;
  found.shape = Shape::gathered;
  found.run_block = plan.run_block;
  found.gathering = gathering_of(wanted);
  Gathering& gathering = found.gathering;
  const std::uint64_t unit = transfer_unit(wanted), size = wanted.format.record_size;
  if (2 * (round_up(gathering.end - gathering.begin, unit) + unit) > size + unit) return std::nullopt;  // most of it is key
  MergeBuffers& buffers = found.merge.final;
  buffers.output_blocks = blocks_of_output;
  buffers.output_block_bytes =
      round_up(std::max(std::min(most_batch_bytes, wanted.memory_bytes / 16) / size, std::uint64_t{1}) * size, page_bytes) + unit;
  const std::uint64_t besides = gathering.index_bytes + buffers.memory_bytes();
  if (besides + 2 * gathering.read_block_bytes > wanted.memory_bytes) return std::nullopt;
  gathering.reads = static_cast<unsigned>(std::min(most_reads, (wanted.memory_bytes - besides) / gathering.read_block_bytes));
  found.merge.steps = {MergeStep{}};
  found.merge.reserve_bytes = plan.merge.reserve_bytes;
  found.formation.read_block_bytes = plan.formation.read_block_bytes;
  found.read_depth = gathering.reads;
  found.write_depth = plan.write_depth;
  found.peak_memory_bytes = besides + gathering.reads * gathering.read_block_bytes;
  found.bytes_written = wanted.input_records * size;
  found.bytes_read = found.bytes_written + wanted.input_records * round_up(gathering.end - gathering.begin, unit);
  return found;
}

void account_gather(RecordPlan& plan, const std::vector<InputExtent>& inputs) {
  const std::uint64_t size = plan.wanted.format.record_size;
  plan.bytes_read = 0;
  for (const InputExtent& input : inputs)
    plan.bytes_read +=
        bytes_of_units(input, size, plan.gathering.begin, plan.gathering.end) + bytes_of_units(input, size, 0, size);
}

}  // namespace ecosort::planner
