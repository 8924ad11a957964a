#include "engine/rows/split_sink.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/errors.h"
#include "base/size_text.h"

namespace ecosort::engine::rows {
namespace {

constexpr std::size_t least_look = 4096;
constexpr unsigned file_blocks = 3;  // one is filled while the others are written

// The seam of names is that of the storage that every program has.
io::NamedStorage& names_of(io::Storage& storage) {
  auto* const names = dynamic_cast<io::NamedStorage*>(&storage);
  if (names == nullptr) throw InternalError("a storage without names cannot have several outputs");
  return *names;
}

}  // namespace

SplitSink::SplitSink(const RowTools& tools, const SplitJob& job, const std::string& top, MemoryBudget& codecs,
                     const std::optional<Packing>& packing)
    : LineSink(tools),
      tools_{{tools.bench, tools.plan, tools.format}, tools.files, pool_of_files_},
      job_(job),
      top_(top),
      memory_(job.memory_bytes),
      pool_of_files_(reactor_.scope(), memory_.allocate(file_blocks * block_bytes_, "blocks of files", Pages::small),
                     block_bytes_, file_blocks),
      carry_(memory_.allocate(round_down(job.memory_bytes - file_blocks * block_bytes_, page_bytes), "row of two blocks",
                              Pages::small)),
      codecs_(codecs),
      packing_(packing),
      rows_(tools.format, job.terms),
      files_(names_of(tools.bench.storage), job.names, job.inputs),
      turned_(reactor_.scope()) {}

void SplitSink::put(std::byte* block, std::size_t bytes) {
  bytes_ += bytes;
  writes_.spawn(take_in_order(block, bytes, put_++));
}

Task<void> SplitSink::take_in_order(std::byte* block, std::size_t bytes, std::uint64_t number) {
  while (taken_ != number) co_await turned_.changed();
  co_await take_block({reinterpret_cast<const char*>(block), bytes});
  pool_.give(block);
  ++taken_;
  turned_.notify();
}

Task<void> SplitSink::settle() {
  co_await writes_.settle();
  if (packed_) co_await packed_->settle();
  if (plain_) co_await plain_->settle();
}

void SplitSink::carry(Text part) {
  if (part.size() > carry_.size() - carried_)
    throw NotEnoughMemory(
        fmt::format("a row is longer than {}, the most that fits where the output is split", format_bytes(carry_.size())),
        tools_.plan.memory_bytes);
  std::memcpy(carry_.data() + carried_, part.data(), part.size());
  carried_ += part.size();
}

std::optional<std::size_t> SplitSink::complete_carried(Text text) {
  const formats::RowFormat& format = tools_.format;
  if (!format.begins_anew()) {
    const char* const end = format.find_end(text.data(), text.data() + text.size(), inside_);
    const std::size_t size = end == nullptr ? text.size() : static_cast<std::size_t>(end - text.data()) + 1;
    carry(text.substr(0, size));
    return end == nullptr ? std::nullopt : std::make_optional(size);
  }
  // The end shows from the beginning of the row on alone. Each look within a block is at twice as much as the one before.
  for (std::size_t taken = 0; taken < text.size();) {
    const std::size_t room = std::max<std::size_t>(carry_.size() - carried_, 1), before = carried_;
    const Text piece = text.substr(taken, std::min(std::max(carried_, least_look), room));
    carry(piece);
    formats::Inside inside;
    const char* const row = reinterpret_cast<const char*>(carry_.data());
    if (const char* const end = format.find_end(row, row + carried_, inside); end != nullptr) {
      carried_ = static_cast<std::size_t>(end - row) + 1;
      return taken + carried_ - before;
    }
    taken += piece.size();
  }
  return std::nullopt;
}

Task<void> SplitSink::take_block(Text text) {
  const formats::RowFormat& format = tools_.format;
  if (carried_ > 0 && !text.empty()) {
    const std::optional<std::size_t> size = complete_carried(text);
    if (!size) co_return;
    text.remove_prefix(*size);
    inside_ = {};
    co_await take_rows({reinterpret_cast<const char*>(carry_.data()), carried_});
    carried_ = 0;
  }
  std::size_t whole = 0;
  auto work = tools_.bench.compute.run([&] {
    for (const char* at = text.data();;) {
      const char* const end = format.find_end(at, text.data() + text.size(), inside_);
      if (end == nullptr) break;
      at = end + 1;
      whole = static_cast<std::size_t>(at - text.data());
    }
  });
  co_await work;
  if (whole > 0) co_await take_rows(text.substr(0, whole));
  carry(text.substr(whole));
}

Task<void> SplitSink::take_rows(Text rows) {
  std::vector<SplitPlace> places;
  if (files() == 0) rows_.set_top(top_.size());
  auto work = tools_.bench.compute.run([&] { places = rows_.take(rows); });
  co_await work;
  std::size_t done = 0;
  for (const SplitPlace& place : places) {
    co_await append(rows.substr(done, place.at - done));
    done = place.at;
    co_await begin_file(place);
  }
  co_await append(rows.substr(done));
}

Task<void> SplitSink::begin_file(const SplitPlace& place) {
  co_await end_file(place.rows_before);
  file_ = files_.create(place.name);
  if (packing_)
    packed_.emplace(tools_, *file_, codecs_, *packing_);
  else
    plain_.emplace(tools_, *file_);
  co_await append(top_);
}

Task<void> SplitSink::append(Text bytes) {
  plain_bytes_ += bytes.size();
  LineSink& sink = packed_ ? static_cast<LineSink&>(*packed_) : *plain_;
  while (!bytes.empty()) {
    if (filling_ == nullptr) filling_ = co_await pool_of_files_.take();
    const std::size_t size = std::min(bytes.size(), block_bytes_ - filled_);
    std::memcpy(filling_ + filled_, bytes.data(), size);
    filled_ += size;
    bytes.remove_prefix(size);
    if (filled_ < block_bytes_) continue;
    sink.complete(filling_, {static_cast<std::uint32_t>(filled_), 0}, 0);
    sink.put(std::exchange(filling_, nullptr), std::exchange(filled_, 0));
  }
}

// The present file, if there is one.
Task<void> SplitSink::end_file(std::uint64_t rows) {
  if (!file_) co_return;
  LineSink& sink = packed_ ? static_cast<LineSink&>(*packed_) : *plain_;
  if (filling_ != nullptr) {
    sink.complete(filling_, {static_cast<std::uint32_t>(filled_), 0}, 0);
    sink.put(std::exchange(filling_, nullptr), std::exchange(filled_, 0));
  }
  co_await sink.settle();
  reactor_.scope().throw_if_failed();
  if (packed_) co_await packed_->finish();
  const std::uint64_t bytes = packed_ ? packed_->file_bytes() : plain_->bytes();
  tools_.bench.storage.set_size(*file_, bytes);
  co_await reactor_.sync(*file_);
  packed_.reset();
  plain_.reset();
  file_bytes_ += bytes;
  files_.complete(std::move(file_), rows, bytes);
}

Task<void> SplitSink::finish() {
  co_await writes_.join();
  if (carried_ > 0) throw InternalError("rows to be split end within one");
  for (const SplitPlace& place : rows_.end()) co_await begin_file(place);
  co_await end_file(rows_.rows());
}

}  // namespace ecosort::engine::rows
