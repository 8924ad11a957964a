#include "job/plan_codecs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"
#include "base/memory.h"
#include "base/size_text.h"
#include "planner/decoding_plan.h"
#include "planner/line_plan.h"

namespace ecosort::job {
namespace {

constexpr std::uint64_t largest_share = 2, encoders_share = 4;

void check_fits(std::uint64_t need, const CodecTerms& terms, const std::string& what) {
  if (need <= terms.memory_bytes / largest_share) return;
  // Some goes to what stays on top before it is divided.
  const std::uint64_t enough = largest_share * need + need / 2;
  throw NotEnoughMemory(fmt::format("{} {} of memory, and {} is too little for that and the sort", what, format_bytes(need),
                                    format_bytes(terms.memory_bytes)),
                        terms.memory_bytes, enough);
}

// A merge decodes all of its inputs at a time.
std::size_t chunk_bytes(const CodecTerms& terms, const std::vector<engine::rows::LineInput>& inputs) {
  constexpr std::uint64_t share = 64, share_of_all = 16, least = page_bytes, most = std::uint64_t{256} << 10U;
  const auto decoded =
      static_cast<std::uint64_t>(terms.merge ? std::ranges::count_if(inputs, &engine::rows::LineInput::is_decoded) : 1);
  const std::uint64_t each = terms.memory_bytes / std::max(share, share_of_all * decoded);
  return round_down(std::clamp(each, least, most), page_bytes);
}

std::uint64_t decoder_bytes_of(const engine::rows::LineInput& input, std::uint64_t memory_bytes) {
  if (input.is_plain_stream()) return 0;
  return input.decoder_bytes > 0 ? input.decoder_bytes : planner::unknown_decoder_bytes(memory_bytes);
}

// Members of gzip are alike.
std::uint64_t later_members_bytes(const engine::rows::LineInput& input, std::uint64_t memory_bytes) {
  if (input.is_plain_stream() || (input.decoder_bytes > 0 && input.codec == codec::Codec::gzip)) return 0;
  return planner::later_members_bytes(memory_bytes, decoder_bytes_of(input, memory_bytes));
}

void plan_inputs(const CodecTerms& terms, const std::vector<engine::rows::LineInput>& inputs, engine::rows::Codecs& codecs) {
  const std::uint64_t chunks = engine::rows::decode_chunks_bytes(codecs.chunk_bytes);
  std::uint64_t all = 0, largest = 0, more = 0, count = 0;
  std::string name;
  for (const engine::rows::LineInput& input : inputs) {
    if (!input.is_decoded()) continue;
    const std::uint64_t need = chunks + decoder_bytes_of(input, terms.memory_bytes);
    const std::uint64_t later = later_members_bytes(input, terms.memory_bytes);
    if (name.empty() || need + later > largest) name = input.name;
    ++count;
    all += need;
    largest = std::max(largest, need + later);
    more = std::max(more, later);
  }
  codecs.memory_bytes = terms.memory_bytes;
  codecs.input_bytes = terms.merge ? all + more : largest;
  const bool are_many = terms.merge && count > 1;
  const std::string what = are_many ? fmt::format("{} files at a time", count) : fmt::format("'{}'", name);
  if (codecs.input_bytes > 0) check_fits(codecs.input_bytes, terms, fmt::format("to decompress {} takes", what));
}

// The largest blocks that the plan may choose with so much memory.
std::size_t most_block_bytes(const CodecTerms& terms) {
  return planner::plan_for_stored_runs(planner::plan_lines(terms.memory_bytes, terms.threads, SIZE_MAX, false)).block_bytes;
}

void plan_output(const CodecTerms& terms, const codec::OutputCodec& output, engine::rows::Codecs& codecs) {
  const std::size_t block_bytes = most_block_bytes(terms);
  engine::rows::Packing packing{output, std::max(terms.threads, 1U)};
  while (packing.encoders > 1 && engine::rows::packing_bytes(packing, block_bytes) > terms.memory_bytes / encoders_share)
    --packing.encoders;
  codecs.output_bytes = engine::rows::packing_bytes(packing, block_bytes);
  check_fits(codecs.output_bytes, terms, fmt::format("{} at level {} takes", codec::name_of(output.codec), output.level));
  codecs.packing = packing;
}

}  // namespace

void check_assumed_ratio(std::uint64_t ratio, bool are_compressed) {
  if (ratio > 0 && !are_compressed)
    throw UsageError("a ratio can be assumed of runs that are compressed; compress them with auto, prefix, lz4 or zstd");
}

std::optional<planner::PowerModel> power_of(const Compression& terms) {
  if (!terms.energy) return std::nullopt;
  return planner::PowerModel{terms.energy->idle_w, terms.energy->core_w, terms.energy->gb_j};
}

planner::PackingPlan plan_run_packing(const CodecTerms& terms, const codec::RunCompression& wanted, std::uint64_t known_bytes) {
  // Plans the packing of runs and of what they are merged into, in blocks of at least the size that a smaller memory has.
  constexpr std::uint64_t least_block = std::uint64_t{8} << 10U;
  return plan_packing_of_blocks(terms, wanted, most_block_bytes(terms), 2 * div_up(known_bytes, least_block));
}

planner::PackingPlan plan_packing_of_blocks(const CodecTerms& terms, const codec::RunCompression& wanted, std::size_t block_bytes,
                                            std::uint64_t blocks) {
  const planner::PackingTerms packing{
      .memory_bytes = terms.memory_bytes, .threads = terms.threads, .block_bytes = block_bytes, .blocks = blocks};
  if (auto plan = planner::plan_packing(packing, wanted)) return *plan;
  const std::uint64_t each = planner::block_coder_bytes(wanted.terms, packing.block_bytes);
  throw NotEnoughMemory(fmt::format("to compress runs with {} takes {} of memory, and {} is too little for that and the sort",
                                    codec::text_of(wanted.terms), format_bytes(each), format_bytes(terms.memory_bytes)),
                        terms.memory_bytes, planner::least_memory_for_packing(packing, wanted));
}

planner::PackingPlan plan_unpacking(const CodecTerms& terms, std::span<const run::Description* const> runs,
                                    std::size_t most_block_bytes) {
  codec::BlockTerms codec;
  std::uint64_t places = 0;
  planner::PackingTerms packing{.memory_bytes = terms.memory_bytes, .threads = terms.threads, .block_bytes = most_block_bytes};
  for (const run::Description* const run : runs) {
    if (codec::takes_more(run->codec, codec.codec)) codec = {run->codec, run->codec == codec::BlockCodec::zstd ? 1 : 0};
    places += run->ends.size() * planner::place_bytes;
    packing.of_records = run->record_size > 0;
  }
  if (codec.codec == codec::BlockCodec::none) return {};
  auto plan = planner::plan_packing(packing, {.is_auto = false, .terms = codec});
  if (plan) plan->index_bytes = round_up(places, page_bytes);
  if (plan && plan->bytes() <= terms.memory_bytes / 2) return *plan;
  const std::uint64_t each = planner::block_coder_bytes(codec, most_block_bytes);
  throw NotEnoughMemory(fmt::format("to decompress these runs takes {} of memory, and {} is too little for that and the merge",
                                    format_bytes(each + places), format_bytes(terms.memory_bytes)),
                        terms.memory_bytes,
                        std::max(planner::least_memory_for_packing(packing, {false, codec}), 3 * (each + places)));
}

engine::rows::Codecs plan_codecs(const CodecTerms& terms, const std::vector<engine::rows::LineInput>& inputs,
                                 const std::optional<codec::OutputCodec>& output) {
  engine::rows::Codecs codecs;
  codecs.chunk_bytes = chunk_bytes(terms, inputs);
  plan_inputs(terms, inputs, codecs);
  if (output) plan_output(terms, *output, codecs);
  check_fits(codecs.bytes(), terms, "decompression and compression together take");
  return codecs;
}

}  // namespace ecosort::job
