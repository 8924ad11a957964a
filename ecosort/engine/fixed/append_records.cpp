#include "engine/fixed/append_records.h"

#include <algorithm>
#include <cstring>

#include "engine/fixed/output_check.h"

namespace ecosort::engine::fixed {

AppendRecords::AppendRecords(Bench& bench, std::uint32_t record_size, const planner::FilesPlan& plan, io::File& output,
                             std::uint64_t before, std::uint64_t more)
    : bench_(bench),
      encoder_(records::Encoder::without_key(record_size)),
      output_(output),
      before_(before),
      writer_(bench, output, plan.output,
              {.total_bytes = before + more, .reserve_bytes = std::max<std::uint64_t>(round_up(more, page_bytes), page_bytes)},
              nullptr),
      block_(bench.memory.allocate(plan.block_bytes, "a block of records that are appended")),
      block_records_(
          std::max<std::uint64_t>(std::min<std::uint64_t>(plan.block_bytes, writer_.capacity_bytes()) / record_size, 1)) {}

// Nothing may use the blocks when they go, on the error path either.
Task<void> AppendRecords::append(const std::vector<Input>& inputs) {
  TaskGroup appending(bench_.reactor.scope());
  appending.spawn(append_all(inputs));
  co_await appending.settle();
  co_await writer_.settle();
  bench_.reactor.scope().throw_if_failed();
}

Task<void> AppendRecords::append_all(const std::vector<Input>& inputs) {
  co_await take_tail();
  for (const Input& input : inputs)
    for (std::uint64_t done = 0; done < input.records; done += block_records_)
      co_await append_block(input, done, std::min(block_records_, input.records - done));
  co_await writer_.finish();
}

// The last unit of the output is written once more.
Task<void> AppendRecords::take_tail() {
  const std::uint64_t unit = output_.write_unit(), size = before_ % unit;
  if (size > 0) (void)co_await bench_.reactor.read(output_, before_ - size, block_.data(), unit, size);
  writer_.resume_with_tail(before_, {block_.data(), block_.data() + size});
}

// Hashed in the memory they were read into, and again where they are written from.
Task<void> AppendRecords::append_block(const Input& input, std::uint64_t first, std::uint64_t count) {
  const std::uint64_t size = encoder_.record_size(), bytes = count * size;
  (void)co_await bench_.reactor.read(*input.file, input.begin() + first * size, block_.data(), bytes, bytes);
  std::byte* const to = co_await writer_.take(before_ + written_.hash.count * size);
  auto work = bench_.compute.run([&] {
    read_ += check_records(block_.data(), count, encoder_).tally;
    std::memcpy(to, block_.data(), bytes);
    written_ += check_records(to, count, encoder_).tally;
  });
  co_await work;
  co_await writer_.put(to, bytes);
}

}  // namespace ecosort::engine::fixed
