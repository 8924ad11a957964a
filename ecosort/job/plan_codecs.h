// How much of the memory decompression and compression get.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codec/codec.h"
#include "ecosort/ecosort.hpp"
#include "engine/rows/lines_sort.h"

namespace ecosort::job {

struct CodecTerms {
  std::uint64_t memory_bytes;  // of all
  unsigned threads;
  bool merge;  // all inputs are read at a time
};

// What the inputs take as far as their beginnings tell, and as many encoders as there are threads, or as fit in a quarter of the
// memory. NotEnoughMemory where either is more than half of it.
[[nodiscard]] lines::Codecs plan_codecs(const CodecTerms& terms, const std::vector<lines::LineInput>& inputs,
                                        const std::optional<codec::OutputCodec>& output);

// By which `auto` chooses codecs of runs; nothing: by time.
[[nodiscard]] std::optional<planner::PowerModel> power_of(const CompressionTerms& terms);

// The coders of runs of these lines; none where `wanted` is none, or where little memory, and thus small blocks, would let `auto`
// gain nothing. `known_bytes`: of the inputs; 0: unknown. NotEnoughMemory where not even one coder fits a quarter of the memory.
[[nodiscard]] planner::PackingPlan plan_run_packing(const CodecTerms& terms, const codec::RunCompression& wanted,
                                                    std::uint64_t known_bytes);

}  // namespace ecosort::job
