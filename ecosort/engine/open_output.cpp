#include "engine/open_output.h"

#include <fmt/format.h>

#include <utility>

#include "base/errors.h"
#include "base/text.h"

namespace ecosort::engine {

io::Caching caching_of_output(std::uint64_t most_bytes, bool reread) noexcept {
  return reread || most_bytes > most_cached_output_bytes ? io::Caching::direct_if_possible : io::Caching::buffered;
}

io::FilePtr open_output(io::Storage& storage, const std::string& output, io::Caching caching) {
  if (output == "-") return storage.open_standard_output();
  return storage.create_unnamed(directory_of(output), io::Role::output, caching);
}

std::string publish_output(io::Storage& storage, io::FilePtr output, const std::string& path,
                           std::vector<io::Storage::Named> further) {
  if (output->facts().is_stream) {
    storage.demand_complete_input();
    storage.close(std::move(output));
    return storage.publish_all(further);
  }
  std::string notice;
  if (further.empty()) {
    notice = storage.publish(*output, path);
  } else {
    further.push_back({output.get(), path});
    notice = storage.publish_all(further);
  }
  try {
    storage.close(std::move(output));
  } catch (const IoError& error) {
    notice += fmt::format("{}{}; the output is complete and was synced before", notice.empty() ? "" : "; ", error.what());
  }
  return notice;
}

}  // namespace ecosort::engine
