#include "demsort_inplace/input_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace ecosort::demsort_inplace {

InputIdentity identity_of(const io::File& file, const io::FileState& state) {
  return {.path = std::filesystem::absolute(file.path()).string(),
          .inode = state.inode,
          .size_bytes = state.size_bytes,
          .modified_ns = state.modified_ns};
}

std::uint64_t bytes_before(const std::vector<InputIdentity>& inputs, const engine::rows::ReadPlace& place) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(place.input, inputs.size()); ++i) bytes += inputs[i].size_bytes;
  return bytes + place.offset;
}

bool is_same_file(const io::FileState& a, const io::FileState& b) noexcept {
  return a.inode == b.inode && a.size_bytes == b.size_bytes && a.modified_ns == b.modified_ns;
}

void check_same_file(io::Storage& storage, const io::File& file, const io::FileState& then) {
  if (is_same_file(storage.state(file), then)) return;
  throw IoError(
      fmt::format("'{}' was changed by someone else while it is being sorted; nothing more of it was given up", file.path()));
}

void check_same_input(const io::FileState& now, const InputIdentity& then, const JobPaths& paths) {
  if (now.inode == then.inode && now.size_bytes == then.size_bytes && now.modified_ns == then.modified_ns) return;
  throw InputChanged(
      fmt::format("'{}' is not what it was when the sort began, so that its runs cannot be used; start again after: ecosort "
                  "resume --abandon {}",
                  then.path, paths.file));
}

}  // namespace ecosort::demsort_inplace
