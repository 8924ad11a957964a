#include "planner/packing_plan.h"

#include <algorithm>

#include "planner/arithmetic.h"

namespace ecosort::planner {
namespace {

constexpr std::uint64_t auto_share = 16, coders_share = 4, index_share = 64;
// Whole pages eat up what smaller blocks gain. Runs of rows are compressed without being asked: there the gain must be clear.
constexpr std::uint64_t least_auto_block_of_records = 32 * KiB, least_auto_block_of_rows = 64 * KiB;

std::uint64_t coder_bytes(const PackingTerms& terms, const codec::RunCompression& wanted) noexcept {
  return block_coder_bytes(wanted.terms, terms.block_bytes);
}

}  // namespace

std::uint64_t PackingPlan::space_of(std::uint64_t bytes) const noexcept {
  if (coders == 0) return bytes;
  return reserves_nothing ? 0 : promised_space(bytes, assumed_ratio);
}

std::uint64_t promised_space(std::uint64_t bytes, std::uint64_t assumed_ratio) noexcept {
  constexpr std::uint64_t thousandths = 1000;
  if (assumed_ratio <= thousandths) return bytes;
  return round_up(bytes / assumed_ratio * thousandths + bytes % assumed_ratio * thousandths / assumed_ratio, page_bytes);
}

std::uint64_t block_coder_bytes(const codec::BlockTerms& terms, std::uint64_t block_bytes) noexcept {
  return 2 * block_bytes + round_up(codec::BlockCoder::memory_bytes(terms, block_bytes), page_bytes);
}

std::optional<PackingPlan> plan_packing(const PackingTerms& terms, const codec::RunCompression& wanted) {
  PackingPlan plan{.wanted = wanted};
  const std::uint64_t least_auto_block = terms.of_records ? least_auto_block_of_records : least_auto_block_of_rows;
  if (wanted.is_none() || (wanted.is_auto && terms.block_bytes < least_auto_block)) return PackingPlan{};
  const std::uint64_t most = terms.memory_bytes / (wanted.is_auto ? auto_share : coders_share);
  if (wanted.is_auto && coder_bytes(terms, wanted) > most) plan.wanted.terms = {codec::BlockCodec::lz4, 0};
  const std::uint64_t each = coder_bytes(terms, plan.wanted);
  if (each > most && wanted.is_auto) return PackingPlan{};
  if (each > most) return std::nullopt;
  plan.coders = static_cast<unsigned>(clip(most / each, 1, std::max(terms.threads, 1U)));
  plan.coder_bytes = plan.coders * each;
  plan.index_bytes = terms.memory_bytes / index_share;
  if (terms.blocks > 0) plan.index_bytes = std::min(plan.index_bytes, page_bytes + place_bytes * terms.blocks);
  plan.index_bytes = round_up(plan.index_bytes, page_bytes);
  return plan;
}

std::uint64_t memory_besides_packing(std::uint64_t left_bytes) noexcept {
  constexpr std::uint64_t left = index_share - index_share / coders_share - 1;  // of `index_share` parts
  return (left_bytes + page_bytes) / left * index_share + index_share;
}

std::uint64_t least_memory_for_packing(const PackingTerms& terms, const codec::RunCompression& wanted) noexcept {
  const std::uint64_t each = coder_bytes(terms, wanted);
  return coders_share * each + coders_share * each / 8;
}

}  // namespace ecosort::planner
