#include "doubles/faulty_queue.h"

#include <algorithm>

namespace ecosort::io {

namespace {

constexpr std::size_t page_bytes = 4096;

void alter(std::byte* data, std::size_t size, const Effect& effect) {
  const std::size_t piece = effect.bytes;
  if (effect.alteration == Alteration::flip && size > 0) data[size / 2] ^= std::byte{1};
  if (2 * piece > size) return;
  if (effect.alteration == Alteration::swap) std::swap_ranges(data, data + piece, data + piece);
  if (effect.alteration == Alteration::repeat) std::copy_n(data, piece, data + piece);
}

}  // namespace

void FaultyQueue::submit(const IoRequest& request) {
  if (request.operation == Operation::write) {
    let_decay();
    for (const auto& [file, result] : broken_streams_)
      if (file == request.file) return fail(request, result);
  }
  const Effect effect = plan_.next(request.file->role(), fault_point(request.operation));
  switch (effect.kind) {
    case Effect::Kind::none:
    case Effect::Kind::signal:
      return below_.submit(request);
    case Effect::Kind::error:
      return fail(request, -effect.number);
    case Effect::Kind::alteration:
      return submit_altered(request, effect);
    case Effect::Kind::short_count:
      break;
  }
  if (effect.bytes == 0) return fail(request, 0);
  const std::size_t unit = request.file->alignment();
  IoRequest shortened = request;
  shortened.size = std::min(request.size, std::max(unit, effect.bytes / unit * unit));
  below_.submit(shortened);
}

void FaultyQueue::fail(const IoRequest& request, std::int64_t result) {
  decided_.push_back({request.tag, result});
  if (request.operation == Operation::write && request.file->facts().is_stream)
    broken_streams_.emplace_back(request.file, result);
}

void FaultyQueue::submit_altered(const IoRequest& request, const Effect& effect) {
  if (effect.alteration == Alteration::lost) {
    decided_.push_back({request.tag, static_cast<std::int64_t>(request.size)});
    return;
  }
  if (request.operation == Operation::write)
    alter(request.data, request.size, effect);
  else
    reads_.push_back({request, effect});
  below_.submit(request);
}

void FaultyQueue::alter_read(const Completion& completion) {
  const auto read = std::ranges::find(reads_, completion.tag, [](const Read& one) { return one.request.tag; });
  if (read == reads_.end()) return;
  const std::size_t size = completion.result > 0 ? static_cast<std::size_t>(completion.result) : 0;
  if (read->effect.alteration == Alteration::decay)
    arrived_.push_back({read->request.data, size});
  else
    alter(read->request.data, size, read->effect);
  reads_.erase(read);
}

void FaultyQueue::let_decay() {
  for (const Range& range : decaying_)
    for (std::size_t at = page_bytes - 1; at < range.size; at += page_bytes) range.data[at] ^= std::byte{0x80};
  decaying_.clear();
}

// A caller that waits again has looked at what came before.
void FaultyQueue::wait(std::vector<Completion>& out, bool block) {
  decaying_.insert(decaying_.end(), arrived_.begin(), arrived_.end());
  arrived_.clear();
  const bool has_some = !decided_.empty();
  out.insert(out.end(), decided_.begin(), decided_.end());
  decided_.clear();
  broken_streams_.clear();
  const std::size_t before = out.size();
  below_.wait(out, block && !has_some);
  for (std::size_t i = before; i < out.size(); ++i) alter_read(out[i]);
}

}  // namespace ecosort::io
