#include "engine/rows/decoded_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/errors.h"
#include "base/size_text.h"
#include "engine/rows/damaged_input.h"
#include "planner/decoding_plan.h"

namespace ecosort::engine::rows {

DecodedInput::DecodedInput(const DecodeTools& tools, LineInput& input)
    : tools_(tools),
      input_(input),
      memory_(tools.chunks.allocate(decode_chunks_bytes(tools.chunk_bytes), "compressed bytes", Pages::small)),
      offset_(input.file->facts().start_offset),
      arrived_(tools.reactor.scope()) {
  chunks_[0].data = memory_.data();
  chunks_[1].data = memory_.data() + tools.chunk_bytes;
}

// Reads of a file that grows what it had when it was opened.
Task<void> DecodedInput::load(Chunk& chunk) {
  const io::File& file = *input_.file;
  const auto& facts = file.facts();
  const std::uint64_t left = facts.is_stream ? UINT64_MAX : facts.size_bytes - std::min(facts.size_bytes, offset_);
  const std::size_t at_least = facts.is_stream ? 0 : std::min<std::uint64_t>(left, tools_.chunk_bytes);
  std::size_t got = 0;
  if (offset_ == facts.start_offset && input_.beginning) {  // of a stream
    got = input_.beginning->size();
    std::memcpy(chunk.data, input_.beginning->data(), got);
  }
  const bool is_all = input_.beginning && input_.beginning->size() < codec::beginning_bytes;
  if (!is_all) got += co_await tools_.reactor.read(file, offset_ + got, chunk.data + got, tools_.chunk_bytes - got, at_least);
  chunk.size = facts.is_stream ? got : at_least;
  chunk.is_last = got < tools_.chunk_bytes || chunk.size == left;
  offset_ += chunk.size;
  chunk.is_here = true;
  arrived_.notify();
}

void DecodedInput::request(TaskGroup& background, Chunk& chunk) {
  chunk.is_here = false;
  background.spawn(load(chunk));
}

void DecodedInput::refuse_too_large(const codec::TooLarge& error) const {
  const std::uint64_t given = tools_.allowance.limit_bytes();
  refuse(input_.name, error, given, planner::memory_for_decoders(tools_.memory_bytes, given, error.need_bytes));
}

Task<void> DecodedInput::begin(TaskGroup& background) {
  has_begun_ = true;
  Chunk& first = chunks_[present_];
  request(background, first);
  while (!first.is_here) co_await arrived_.changed();
  const std::string_view beginning(reinterpret_cast<const char*>(first.data), first.size);
  input_.take_beginning(beginning);
  if (!input_.codec) co_return;
  try {
    decoder_ = codec::Decoder::make(*input_.codec, tools_.allowance);
  } catch (const codec::TooLarge& error) {
    refuse_too_large(error);
  }
  if (!first.is_last) request(background, chunks_[1 - present_]);
}

Task<void> DecodedInput::next_chunk(TaskGroup& background) {
  Chunk& used = chunks_[present_];
  Chunk& next = chunks_[1 - present_];
  while (!next.is_here) co_await arrived_.changed();
  present_ = 1 - present_;
  at_ = 0;
  if (!next.is_last) request(background, used);
}

Task<codec::Decoder::Step> DecodedInput::decode(std::span<std::byte> out) {
  const Chunk& chunk = chunks_[present_];
  codec::Decoder::Step step;
  try {
    auto work = tools_.compute.run(
        [&] { step = decoder_->decode(std::span<const std::byte>(chunk.data, chunk.size).subspan(at_), out, chunk.is_last); });
    co_await work;
  } catch (const codec::Damaged& error) {
    refuse(input_.name, error);
  } catch (const codec::Unreadable& error) {
    refuse(input_.name, error);
  } catch (const codec::TooLarge& error) {
    refuse_too_large(error);
  }
  at_ += step.consumed;
  input_.compressed_bytes += step.consumed;
  input_.plain_bytes += step.produced;
  co_return step;
}

Task<std::size_t> DecodedInput::read_plain(std::byte* data, std::size_t size) {
  const Chunk& first = chunks_[present_];
  const std::size_t kept = std::min(size, first.size - at_);
  std::memcpy(data, first.data + at_, kept);
  at_ += kept;
  if (kept == size || first.is_last) co_return kept;
  const std::size_t got = co_await tools_.reactor.read(*input_.file, offset_, data + kept, size - kept, 0);
  offset_ += got;
  co_return kept + got;
}

Task<std::size_t> DecodedInput::read(TaskGroup& background, std::byte* data, std::size_t size) {
  if (!has_begun_) co_await begin(background);
  if (!decoder_) co_return co_await read_plain(data, size);
  const std::size_t got = co_await read_decoded(background, data, size);
  if (!std::exchange(has_decoded_, true)) refuse_contents(input_.name, {reinterpret_cast<const char*>(data), got});
  co_return got;
}

Task<std::size_t> DecodedInput::read_decoded(TaskGroup& background, std::byte* data, std::size_t size) {
  std::size_t got = 0;
  while (got < size && !decoder_->has_ended()) {
    if (at_ == chunks_[present_].size && !chunks_[present_].is_last) co_await next_chunk(background);
    const codec::Decoder::Step step = co_await decode({data + got, size - got});
    got += step.produced;
  }
  co_return got;
}

Task<void> DecodedInput::check_rest(TaskGroup& background, std::span<std::byte> scratch) {
  std::size_t got = scratch.size();
  for (std::uint64_t checked = 0; decoder_ && got == scratch.size() && checked < checked_behind_refused; checked += got)
    got = co_await read(background, scratch.data(), scratch.size());
}

}  // namespace ecosort::engine::rows
