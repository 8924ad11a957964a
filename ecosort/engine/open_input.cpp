#include "engine/open_input.h"

#include <cstdint>
#include <utility>

namespace ecosort::engine {
namespace {

constexpr std::uint64_t small_input_bytes = std::uint64_t{1} << 20U;

}  // namespace

io::FilePtr open_input(io::Storage& storage, const std::string& name) {
  io::FilePtr file = storage.open_input(name, io::Caching::buffered);
  if (file->facts().is_stream || file->facts().size_bytes < small_input_bytes) return file;
  storage.close(std::move(file));
  return storage.open_input(name, io::Caching::direct_if_possible);
}

}  // namespace ecosort::engine
