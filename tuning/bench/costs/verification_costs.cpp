#include "costs/cost.h"
#include "engine/fixed/output_check.h"
#include "formats/records/encoder.h"
#include "hash/block_checksum.h"
#include "hash/multiset_hash.h"
#include "sortbenchmark/gensort.h"

namespace ecosort::bench {

namespace {

constexpr std::size_t memory_bytes = std::size_t{256} << 20;  // beyond the caches

}  // namespace

double verify_cost(std::size_t block_bytes) {
  const std::vector<std::byte> memory(memory_bytes, std::byte{'x'});
  return cost(memory.size(), [&] {
    for (std::size_t at = 0; at < memory.size(); at += block_bytes)
      keep(hash::block_checksum(memory.data() + at, block_bytes, at));
  });
}

Costs verification_costs() {
  constexpr std::size_t chunk_records = 327;  // 32 KiB
  const records::Encoder encoder(records::RecordFormat{});
  sortbenchmark::GensortRecords generator({.ascii = true}, 0);
  std::vector<std::byte> chunk(chunk_records * record_size), memory(memory_bytes, std::byte{'x'});
  generator.generate(chunk.data(), chunk_records);

  Costs costs;
  costs.emplace_back("input_hash", cost(memory.size(), [&] {
                       hash::MultisetHash hash;
                       hash.add_records(memory.data(), memory.size() / record_size, record_size);
                       keep(hash.low);
                     }));
  costs.emplace_back("output_hash_and_order", cost(chunk.size(), [&] {
                       keep(engine::fixed::check_records(chunk.data(), chunk_records, encoder).tally.hash.low);
                     }));
  costs.emplace_back("granule_seal",
                     cost(run_block_bytes, [&] { keep(hash::block_checksum(memory.data(), run_block_bytes, 1)); }));
  costs.emplace_back("granule_verify", verify_cost(run_block_bytes));
  return costs;
}

}  // namespace ecosort::bench
