#include "engine/partition/sample.h"

#include <algorithm>
#include <memory>
#include <span>

#include "base/block_pool.h"
#include "base/memory.h"
#include "base/random.h"
#include "engine/bench.h"
#include "sorting/parallel_parts.h"

namespace ecosort::engine::partition {
namespace {

constexpr std::uint64_t together_bytes = std::uint64_t{64} << 10U;  // of records that come with one request, at most
// The bytes between two records are read along where they are fewer than this. 36,000 records of 1 GB, 28 KB apart: with 64 KiB
// two thirds of the file were read.
constexpr std::uint64_t gap_bytes = std::uint64_t{8} << 10U;

std::uint64_t block_bytes(std::uint32_t record_size) noexcept {
  return std::max(together_bytes, round_up(record_size, page_bytes) + 2 * page_bytes);
}

// Members are declared in the order in which they may be used.
class Sampler {
 public:
  Sampler(SampleRecordsJob& job, const Environment& environment)
      : job_(job),
        bench_(environment, {sample_memory_bytes(job.record_size), 0, sample_read_depth, 1}),
        blocks_(bench_.reactor.scope(), bench_.memory.allocate(sample_memory_bytes(job.record_size), "blocks", Pages::small),
                block_bytes(job.record_size), sample_read_depth),
        main_(bench_.reactor.scope()) {}

  Sample run() {
    const std::vector<std::uint64_t> records = random_places(job_.input.records, job_.terms.count, job_.terms.seed);
    for (const std::uint64_t record : records)
      sample_.rows.push_back({"", job_.terms.source, job_.input.begin() + record * job_.record_size});
    const std::uint64_t bytes = records.size() * job_.record_size;
    bench_.progress.plan_job(1, bytes);
    bench_.begin("sample", Phase::sample, bytes, bytes);
    main_.spawn(read_all());
    bench_.reactor.run(main_, bench_.interrupted);
    bench_.end();
    fixed::check_unchanged(bench_.storage, job_.input);
    sample_.traffic = bench_.reactor.traffic();
    bench_.progress.begin(Phase::done, 0);
    return std::move(sample_);
  }

 private:
  // Reads rows together that lie near each other in one block.
  Task<void> read_all() {
    std::vector<Splitter>& rows = sample_.rows;
    const std::uint64_t unit = job_.input.file->alignment();
    for (std::size_t first = 0, end = 0; first < rows.size(); first = end) {
      const std::uint64_t from = round_down(rows[first].offset, unit);
      for (++end; end < rows.size(); ++end) {
        const std::uint64_t behind = rows[end - 1].offset + job_.record_size;
        if (rows[end].offset > behind + gap_bytes) break;
        if (rows[end].offset + job_.record_size > from + blocks_.block_bytes() - unit) break;
      }
      std::byte* const block = co_await blocks_.take();
      main_.spawn(read(std::span(rows).subspan(first, end - first), from, block));
    }
  }

  Task<void> read(std::span<Splitter> rows, std::uint64_t from, std::byte* block) {
    const std::uint64_t bytes = rows.back().offset + job_.record_size - from;
    (void)co_await bench_.reactor.read(*job_.input.file, from, block, round_up(bytes, job_.input.file->alignment()), bytes);
    for (Splitter& row : rows) row.row.assign(reinterpret_cast<const char*>(block + (row.offset - from)), job_.record_size);
    bench_.progress.add_bytes(rows.size() * job_.record_size);
    blocks_.give(block);
  }

  SampleRecordsJob& job_;
  Bench bench_;
  BlockPool blocks_;
  Sample sample_;
  TaskGroup main_;
};

}  // namespace

std::vector<std::uint64_t> random_places(std::uint64_t size, std::uint64_t count, std::uint64_t seed) {
  Random random(seed);
  const std::uint64_t pieces = std::min(size, count);
  std::vector<std::uint64_t> places;
  places.reserve(pieces);
  for (std::uint64_t i = 0; i < pieces; ++i) {
    const std::uint64_t begin = sorting::part_begin(size, pieces, i);
    places.push_back(begin + random.below(sorting::part_begin(size, pieces, i + 1) - begin));
  }
  return places;
}

std::uint64_t sample_memory_bytes(std::uint32_t record_size) noexcept { return sample_read_depth * block_bytes(record_size); }

Sample sample_records(SampleRecordsJob& job, const Environment& environment) {
  return keep_where_queue_breaks(std::make_unique<Sampler>(job, environment), [](Sampler& sampler) { return sampler.run(); });
}

}  // namespace ecosort::engine::partition
