#include "demsort_inplace/input_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace ecosort::inplace {

InputIdentity identity_of(const io::File& file, const io::FileState& state) {
  return {.path = std::filesystem::absolute(file.path()).string(),
          .inode = state.inode,
          .size_bytes = state.size_bytes,
          .modified_ns = state.modified_ns};
}

std::uint64_t bytes_before(const std::vector<InputIdentity>& inputs, const lines::ReadPlace& place) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(place.input, inputs.size()); ++i) bytes += inputs[i].size_bytes;
  return bytes + place.offset;
}

void check_same_input(const io::FileState& now, const InputIdentity& then, const JobPaths& paths) {
  if (now.inode == then.inode && now.size_bytes == then.size_bytes && now.modified_ns == then.modified_ns) return;
  throw InputChanged(
      fmt::format("'{}' is not what it was when the sort began, so that its runs cannot be used; start again after: ecosort "
                  "resume --abandon {}",
                  then.path, paths.file));
}

}  // namespace ecosort::inplace
