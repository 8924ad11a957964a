#include "engine/partition/slice_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/memory.h"
#include "base/text.h"

namespace ecosort::engine::partition {

SliceFiles::SliceFiles(Bench& bench, std::vector<std::string> paths, const SliceBlocks& blocks)
    : bench_(bench),
      paths_(std::move(paths)),
      block_bytes_(blocks.bytes),
      blocks_(bench.reactor.scope(), bench.memory.allocate(blocks.bytes * blocks.count, "write blocks"), blocks.bytes,
              blocks.count),
      ended_(paths_.size()),
      writes_(bench.reactor.scope()) {}

SliceFiles::Files SliceFiles::create_files(std::size_t number) {
  Files files;
  for (const std::string& path : paths_) {
    auto file = std::make_unique<File>();
    file->path = number == 0 ? path : fmt::format("{}.{:05}", path, number);
    file->file = bench_.storage.create_unnamed(directory_of(path), io::Role::output, io::Caching::direct_if_possible);
    files.push_back(std::move(file));
  }
  return files;
}

Task<void> SliceFiles::make_room(std::size_t part) {
  File& file = *now_[part];
  if (!blocks_.has_idle()) ++waits_;
  std::byte* const fresh = co_await blocks_.take();
  std::byte* const full = std::exchange(file.block, fresh);
  if (full == nullptr) {
    std::ranges::copy(top_, reinterpret_cast<char*>(fresh));
    add(part, top_.size());
    co_return;
  }
  const std::uint64_t size = round_down(file.used, file.file->write_unit());
  file.used -= size;
  std::memcpy(fresh, full + size, file.used);
  const std::uint64_t offset = std::exchange(file.offset, file.offset + size);
  writes_.spawn(write(file, full, offset, size));
}

// Writes inside the file's size need no exclusive lock in the file system.
void SliceFiles::grow(File& file, std::uint64_t end) {
  constexpr std::uint64_t most_ahead = std::uint64_t{256} << 20U;
  if (end <= file.size) return;
  file.size = end + std::min(end, most_ahead);
  bench_.storage.set_size(*file.file, file.size);
}

Task<void> SliceFiles::write(File& file, std::byte* block, std::uint64_t offset, std::uint64_t size) {
  grow(file, offset + size);
  if (size > 0) co_await bench_.reactor.write(*file.file, offset, block, size);
  bench_.progress.add_bytes(size);
  blocks_.give(block);
}

// The last unit is written whole, and cut.
Task<void> SliceFiles::end_file(File& file) {
  const std::uint64_t size = round_up(file.used, file.file->write_unit());
  std::memset(file.block + file.used, 0, size - file.used);
  co_await write(file, std::exchange(file.block, nullptr), file.offset, size);
  if (file.size != file.bytes) bench_.storage.set_size(*file.file, file.bytes);
}

Task<void> SliceFiles::end_all() {
  for (std::size_t part = 0; part < now_.size(); ++part) {
    const bool is_first = ended_[part].empty();
    if (now_[part]->block == nullptr && is_first && !top_.empty()) co_await make_room(part);
    if (now_[part]->block != nullptr) writes_.spawn(end_file(*now_[part]));
    if (now_[part]->bytes > 0 || is_first)
      ended_[part].push_back(std::move(now_[part]));
    else
      bench_.storage.close(std::move(now_[part]->file));
  }
  now_.clear();
}

Task<void> SliceFiles::begin_next() {
  co_await end_all();
  now_ = create_files(++generation_);
}

Task<void> SliceFiles::finish() {
  co_await end_all();
  co_await writes_.join();
  for (const Files& files : ended_)
    for (const auto& file : files) writes_.spawn(bench_.reactor.sync(*file->file));
  co_await writes_.join();
}

std::vector<SliceFile> SliceFiles::files(std::size_t part) const {
  std::vector<SliceFile> files;
  for (const auto& file : ended_[part]) files.push_back({file->path, file->bytes});
  return files;
}

std::string SliceFiles::publish() {
  std::vector<io::Storage::Named> named;
  for (const Files& files : ended_)
    for (const auto& file : files) named.push_back({file->file.get(), file->path});
  std::string notice = bench_.storage.publish_all(named);
  for (const Files& files : ended_)
    for (const auto& file : files) bench_.storage.close(std::move(file->file));
  return notice;
}

}  // namespace ecosort::engine::partition
