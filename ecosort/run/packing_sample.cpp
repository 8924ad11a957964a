#include "run/packing_sample.h"

#include <algorithm>

#include "base/thread_time.h"
#include "formats/records/gather.h"
#include "formats/records/index_sort.h"

namespace ecosort::run {
namespace {

// So much is packed of each sorted beginning in each way; with levels that take long, a quarter.
constexpr std::size_t most_sample_bytes = std::size_t{2} << 20U, most_blocks = 16;
constexpr int slow_level = 6;

std::size_t blocks_to_pack(const codec::BlockTerms& terms, std::size_t block_bytes) noexcept {
  const std::size_t share = terms.level > slow_level ? 4 : 1;
  return std::clamp<std::size_t>(most_sample_bytes / block_bytes, 1, most_blocks) / share;
}

// All, the half, the quarter, and a quarter of that again until it is no longer than a run; none has less than a block.
std::vector<std::uint64_t> lengths_of(std::uint64_t stretch_records, std::uint64_t run_records, std::uint64_t block_records) {
  std::vector<std::uint64_t> lengths{stretch_records, stretch_records / 2, stretch_records / 4};
  while (lengths.back() > run_records) lengths.push_back(lengths.back() / 4);
  std::ranges::reverse(lengths);
  std::erase_if(lengths, [&](std::uint64_t records) { return records < block_records && records < stretch_records; });
  return lengths;
}

}  // namespace

PackingSample::PackingSample(const planner::RecordPlan& plan, std::uint64_t stretch_records)
    : encoder_(plan.wanted.format),
      run_block_(plan.run_block),
      shape_{plan.run_block.bytes, plan.wanted.format.record_size},
      most_blocks_(std::max<std::size_t>(blocks_to_pack(plan.packing.wanted.terms, shape_.block_bytes), 1)),
      lengths_(lengths_of(stretch_records, plan.formation.run_records, plan.run_block.records)),
      memory_(PackedBlockCoder::memory_bytes(plan.packing.wanted.terms, shape_) + 3 * std::uint64_t{shape_.block_bytes}),
      coder_memory_(memory_.allocate(PackedBlockCoder::memory_bytes(plan.packing.wanted.terms, shape_), "a coder", Pages::small)),
      block_(memory_.allocate(shape_.block_bytes, "a block", Pages::small)),
      packed_(memory_.allocate(shape_.block_bytes, "a packed block", Pages::small)),
      unpacked_(memory_.allocate(shape_.block_bytes, "an unpacked block", Pages::small)),
      coder_(plan.packing.wanted.terms, shape_, coder_memory_.as<std::byte>()) {
  for (const PackTerms& terms : ways_to_pack(plan.packing.wanted, shape_.record_size))
    measured_.push_back({.terms = terms, .block_bytes = std::vector<std::vector<double>>(lengths_.size())});
}

void PackingSample::add(std::span<const std::byte> stretch) {
  bytes_ += stretch.size();
  for (std::size_t length = 0; length < lengths_.size(); ++length)
    look_at(stretch.first(lengths_[length] * encoder_.record_size()), length);
}

void PackingSample::sort(std::span<const std::byte> records) {
  const std::uint64_t count = records.size() / encoder_.record_size();
  entries_.resize(count);
  scratch_.resize(count);
  records::extract(encoder_, records.data(), count, 0, entries_.data());
  records::sort_entries(entries_.data(), scratch_.data(), count);
  if (!encoder_.decides())
    records::refine_ties(entries_.data(), scratch_.data(), count, encoder_,
                         records::RecordTable(records.data(), encoder_.record_size()));
}

// Sorts the records and packs blocks in the middle of equal parts of them.
void PackingSample::look_at(std::span<const std::byte> records, std::size_t length) {
  sort(records);
  const records::RecordTable table(records.data(), encoder_.record_size());
  const std::size_t blocks = std::max<std::size_t>(entries_.size() / run_block_.records, 1),
                    wanted = std::min(blocks, most_blocks_);
  for (std::size_t i = 0; i < wanted; ++i) {
    const std::size_t first = (2 * i + 1) * blocks / (2 * wanted) * run_block_.records;
    const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(run_block_.records, entries_.size() - first));
    for (Measured& measured : measured_) {
      records::gather(entries_.data() + first, count, table, block_.data());
      pack(measured, count, length);
    }
  }
}

// The block; what it takes is for a full one.
void PackingSample::pack(Measured& measured, std::uint32_t count, std::size_t length) {
  constexpr std::uint64_t seed = 0;
  const BlockContents contents{.used_bytes = count * encoder_.record_size()};
  const double begin_s = thread_cpu_s();
  const std::size_t stored = coder_.pack(measured.terms, block_.data(), contents, seed, packed_.data());
  const double packed_s = thread_cpu_s();
  if (stored > 0) (void)coder_.unpack(packed_.data(), stored, unpacked_.data());
  measured.pack_s += packed_s - begin_s;
  measured.unpack_s += thread_cpu_s() - packed_s;
  measured.plain_bytes += contents.used_bytes;
  const double whole = run_block_.bytes, full = static_cast<double>(run_block_.records) / count;
  const double bytes = stored == 0 ? whole : static_cast<double>(PackedBlockCoder::sealed_bytes(packed_.data())) * full;
  measured.block_bytes[length].push_back(bytes);
}

planner::PackedSize PackingSample::size_of(const Measured& measured) const {
  planner::PackedSize size;
  for (std::size_t length = 0; length < lengths_.size(); ++length) size.add(lengths_[length], measured.block_bytes[length]);
  return size;
}

std::vector<Trial> PackingSample::trials(std::uint64_t run_records) const {
  std::vector<Trial> trials;
  if (bytes_ == 0) return trials;
  const double plain = static_cast<double>(run_records) * encoder_.record_size();
  for (const Measured& measured : measured_) {
    const auto stored = static_cast<double>(size_of(measured).run_bytes(run_block_, run_records));
    trials.push_back({measured.terms, std::max(plain / stored, 1.0), measured.pack_s / measured.plain_bytes});
  }
  return trials;
}

planner::SampledPacking PackingSample::packed(const CodecChoice& choice) const {
  planner::SampledPacking packed{.codec = codec::text_of(choice.terms.codec),
                                 .transposes = choice.terms.transposes,
                                 .why = choice.why,
                                 .size = {},
                                 .sample_bytes = bytes_};
  const auto measured = std::ranges::find(measured_, choice.terms, &Measured::terms);
  if (measured == measured_.end()) return packed;
  packed.size = size_of(*measured);
  packed.pack_s = measured->pack_s / measured->plain_bytes;
  packed.unpack_s = measured->unpack_s / measured->plain_bytes;
  return packed;
}

}  // namespace ecosort::run
