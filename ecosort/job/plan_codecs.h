// Plans how much of the memory decompression and compression get.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "codec/codec.h"
#include "ecosort/ecosort.hpp"
#include "engine/rows/lines_sort.h"
#include "run/description.h"

namespace ecosort::job {

struct CodecTerms {
  std::uint64_t memory_bytes;  // of all
  unsigned threads;
  bool merge;  // all inputs are read at a time
};

// Plans what the inputs take as far as their beginnings show, and as many encoders as there are threads, or as fit in a quarter
// of the memory. NotEnoughMemory where either is more than half of it.
[[nodiscard]] engine::rows::Codecs plan_codecs(const CodecTerms& terms, const std::vector<engine::rows::LineInput>& inputs,
                                               const std::optional<codec::OutputCodec>& output);

// UsageError where less space is assumed for runs that are not compressed.
void check_assumed_ratio(std::uint64_t ratio, bool are_compressed);

// By which `auto` chooses codecs of runs; nothing: by time.
[[nodiscard]] std::optional<planner::PowerModel> power_of(const Compression& terms);

// The coders of runs of these lines; none where `wanted` is none, or where little memory, and thus small blocks, would let `auto`
// gain nothing. `known_bytes`: of the inputs; 0: unknown. NotEnoughMemory where not even one coder fits a quarter of the memory.
[[nodiscard]] planner::PackingPlan plan_run_packing(const CodecTerms& terms, const codec::RunCompression& wanted,
                                                    std::uint64_t known_bytes);
// Plans the packing of runs whose blocks have a size, at most `blocks` of them at a time (0: unknown).
[[nodiscard]] planner::PackingPlan plan_packing_of_blocks(const CodecTerms& terms, const codec::RunCompression& wanted,
                                                          std::size_t block_bytes, std::uint64_t blocks);

// Plans what decodes these runs of jobs, as far as they are packed, records of one size or rows; with the places of all of their
// blocks. None where none is. NotEnoughMemory.
[[nodiscard]] planner::PackingPlan plan_unpacking(const CodecTerms& terms, std::span<const run::Description* const> runs,
                                                  std::size_t most_block_bytes);

}  // namespace ecosort::job
