// ecosort_verification_cost: the CPU time of what a sort does only to verify itself, in seconds per 10^9 bytes of records.
//
// The same calls on the same amounts as in the sort, each apart: records are hashed and summed while the extraction of the keys
// has them in the first-level cache, the output is hashed and compared while the merge has, granules are sealed after they
// were gathered, and verified after a read, out of memory. One thread; times add up over threads.
#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/errors.h"
#include "pipeline/output_check.h"
#include "records/block_checksum.h"
#include "records/encoder.h"
#include "records/gensort.h"
#include "records/multiset_hash.h"
#include "records/valsort_crc.h"

namespace {

using namespace ecosort;

constexpr std::uint32_t record_size = 100;
constexpr std::size_t chunk_records = 327;  // 32 KiB
constexpr std::size_t granule_bytes = 65'536;
constexpr std::size_t memory_bytes = std::size_t{256} << 20;
constexpr double gigabyte = 1e9;

[[nodiscard]] double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Seconds per gigabyte of a call that looks at `bytes` bytes; at least a fifth of a gigabyte is looked at.
template <class Call>
[[nodiscard]] double cost(std::size_t bytes, Call call) {
  const auto rounds = static_cast<std::size_t>(gigabyte / 5 / static_cast<double>(bytes)) + 1;
  call();
  const double begin = cpu_seconds();
  for (std::size_t i = 0; i < rounds; ++i) call();
  return (cpu_seconds() - begin) / (static_cast<double>(bytes) * static_cast<double>(rounds)) * gigabyte;
}

std::uint64_t keep(std::uint64_t value) {  // so that no call is optimised away
  [[maybe_unused]] static volatile std::uint64_t sink;
  sink = value;
  return value;
}

}  // namespace

int main() try {
  const records::Encoder encoder(records::RecordFormat{});
  records::GensortRecords generator({.ascii = true}, 0);
  std::vector<std::byte> chunk(chunk_records * record_size), memory(memory_bytes, std::byte{'x'});
  generator.generate(chunk.data(), chunk_records);

  nlohmann::ordered_json json;
  json["input_hash"] = cost(chunk.size(), [&] {
    records::MultisetHash hash;
    hash.add_records(chunk.data(), chunk_records, record_size);
    keep(hash.low);
  });
  json["input_checksum"] =
      cost(chunk.size(), [&] { keep(static_cast<std::uint64_t>(records::crc_sum(chunk.data(), chunk_records).sum)); });
  json["output_hash_and_order"] =
      cost(chunk.size(), [&] { keep(pipeline::check_records(chunk.data(), chunk_records, encoder).tally.hash.low); });
  json["granule_seal"] = cost(granule_bytes, [&] { keep(records::block_checksum(memory.data(), granule_bytes, 1)); });
  json["granule_verify"] = cost(memory.size(), [&] {
    for (std::size_t at = 0; at < memory.size(); at += granule_bytes)
      keep(records::block_checksum(memory.data() + at, granule_bytes, at));
  });
  fmt::print("{}\n", json.dump());
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "ecosort_verification_cost: {}\n", error.what());
  return static_cast<int>(ecosort::ExitCode::internal);
}
