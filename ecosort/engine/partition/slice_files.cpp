#include "engine/partition/slice_files.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/memory.h"

namespace ecosort::engine {

SliceFiles::SliceFiles(io::Storage& storage, io::Reactor& reactor, std::vector<std::string> paths, Buffer memory,
                       std::uint64_t block_bytes, unsigned blocks, Progress& progress)
    : storage_(storage),
      reactor_(reactor),
      paths_(std::move(paths)),
      block_bytes_(block_bytes),
      progress_(progress),
      blocks_(reactor.scope(), std::move(memory), block_bytes, blocks),
      parts_(paths_.size()),
      writes_(reactor.scope()) {}

void SliceFiles::create() {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const std::string parent = std::filesystem::path(paths_[i]).parent_path().string();
    parts_[i].file = storage_.create_unnamed(parent.empty() ? "." : parent, io::Role::output, io::Caching::direct_if_possible);
  }
}

Task<void> SliceFiles::make_room(std::size_t number) {
  Part& part = parts_[number];
  std::byte* const fresh = co_await blocks_.take();
  std::byte* const full = std::exchange(part.block, fresh);
  if (full == nullptr) {
    std::ranges::copy(top_, reinterpret_cast<char*>(fresh));
    add(number, top_.size());
    co_return;
  }
  const std::uint64_t size = round_down(part.used, part.file->write_unit());
  part.used -= size;
  std::memcpy(fresh, full + size, part.used);
  const std::uint64_t offset = std::exchange(part.offset, part.offset + size);
  writes_.spawn(write(part, full, offset, size));
}

Task<void> SliceFiles::write(Part& part, std::byte* block, std::uint64_t offset, std::uint64_t size) {
  if (size > 0) co_await reactor_.write(*part.file, offset, block, size);
  progress_.add_bytes(size);
  blocks_.give(block);
}

// The last unit is written whole, and cut.
Task<void> SliceFiles::finish_part(Part& part) {
  if (part.block != nullptr) {
    const std::uint64_t size = round_up(part.used, part.file->write_unit());
    std::memset(part.block + part.used, 0, size - part.used);
    co_await write(part, std::exchange(part.block, nullptr), part.offset, size);
    if (size != part.used) storage_.set_size(*part.file, part.bytes);
  }
  co_await reactor_.sync(*part.file);
}

Task<void> SliceFiles::finish() {
  co_await writes_.join();
  for (std::size_t i = 0; i < parts_.size(); ++i)
    if (parts_[i].block == nullptr && !top_.empty()) co_await make_room(i);
  for (Part& part : parts_) writes_.spawn(finish_part(part));
  co_await writes_.join();
}

std::string SliceFiles::publish() {
  std::vector<io::Storage::Named> named;
  named.reserve(parts_.size());
  for (std::size_t i = 0; i < parts_.size(); ++i) named.push_back({parts_[i].file.get(), paths_[i]});
  std::string notice = storage_.publish_all(named);
  for (Part& part : parts_) storage_.close(std::move(part.file));
  return notice;
}

}  // namespace ecosort::engine
