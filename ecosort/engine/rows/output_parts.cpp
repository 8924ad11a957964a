#include "engine/rows/output_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/errors.h"

namespace ecosort::engine::rows {

std::uint64_t BorderPages::bytes_for(const io::File& file, unsigned parts) noexcept {
  return file.is_direct() ? (parts - 1) * file.write_unit() : 0;
}

BorderPages::BorderPages(MemoryBudget& memory, const io::File& file, const std::vector<std::uint64_t>& borders, std::uint64_t end)
    : file_(file), unit_(file.write_unit()) {
  for (const std::uint64_t border : borders) {
    const std::uint64_t offset = round_down(border, unit_);
    if (offset == border || (!pages_.empty() && pages_.back().offset == offset)) continue;
    pages_.push_back({offset, nullptr, std::min<std::uint64_t>(unit_, end - offset)});
  }
  if (pages_.empty()) return;
  memory_ = memory.allocate(pages_.size() * unit_, "pages between parts of the output");
  std::memset(memory_.data(), 0, memory_.size());
  for (std::size_t i = 0; i < pages_.size(); ++i) pages_[i].data = memory_.data() + i * unit_;
}

void BorderPages::keep(std::uint64_t offset, const std::byte* data, std::size_t size) {
  if (size == 0) return;
  const auto page = std::ranges::find(pages_, round_down(offset, unit_), &Page::offset);
  if (page == pages_.end() || size > page->missing || offset - page->offset + size > unit_)
    throw InternalError(fmt::format("{} bytes at {} of the output belong to no page between its parts", size, offset));
  std::memcpy(page->data + (offset - page->offset), data, size);
  page->missing -= size;
}

Task<void> BorderPages::write(io::Reactor& reactor) {
  for (const Page& page : pages_) {
    if (page.missing > 0) throw InternalError(fmt::format("{} bytes are missing at {} of the output", page.missing, page.offset));
    co_await reactor.write(file_, page.offset, page.data, unit_);
  }
}

PartSink::PartSink(const RowTools& tools, const io::File& file, BorderPages& pages, const ByteRange& part, bool is_last,
                   std::uint64_t total)
    : LineSink(tools),
      file_(file),
      pages_(pages),
      part_(part),
      is_last_(is_last),
      lead_(part.begin % pages.unit()),
      at_(part.begin - lead_) {
  if (total > 0) ahead_.emplace(tools.bench, file, part, total);
}

void PartSink::complete(std::byte* block, run::BlockContents contents, std::uint64_t /*before*/) {
  take_marks_away(block, contents.used_bytes);
  std::memset(block + contents.used_bytes, 0, round_up(contents.used_bytes, pages_.unit()) - contents.used_bytes);
}

//   block | lead | own bytes ..................... |
//   pages |             |             |             |        the first is kept back if there is a lead, the last one if it is not
//                     from            to                     full, unless nothing follows
void PartSink::put(std::byte* block, std::size_t bytes) {
  const std::size_t own = bytes_ == 0 ? lead_ : 0;
  const std::size_t from = round_up(own, pages_.unit());
  const std::size_t to =
      std::max<std::size_t>(from, is_last_ ? round_up(bytes, pages_.unit()) : round_down(bytes, pages_.unit()));
  if (own > 0) pages_.keep(at_ + own, block + own, std::min(from, bytes) - own);
  if (bytes > to) pages_.keep(at_ + to, block + to, bytes - to);
  if (ahead_) ahead_->reach(at_, writes_);
  write_part(file_, block, from, to, at_ + from);
  at_ += bytes;
  bytes_ += bytes - own;
}

void PartSink::check_complete() const {
  if (bytes_ != part_.size())
    throw InternalError(fmt::format("{} bytes went into a part of the output that has {}", bytes_, part_.size()));
}

}  // namespace ecosort::engine::rows
