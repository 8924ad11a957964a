#include "engine/claim.h"

#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/json.h"
#include "base/text.h"
#include "io/named_storage.h"
#include "io/plain_file.h"

namespace ecosort::engine {

bool is_claim(const std::string& path) {
  const std::vector<std::byte> bytes = io::read_whole_file(path);
  const auto json = Json::parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const std::string* const schema = json && json->is_object() ? json->find_text("schema") : nullptr;
  return schema != nullptr && *schema == claim_schema;
}

void take_claim_away(io::Storage& storage, const std::string& output) {
  auto* const names = dynamic_cast<io::NamedStorage*>(&storage);
  const std::string path = output + std::string(claim_ending);
  if (output == "-" || names == nullptr || !names->exists(path) || !is_claim(path)) return;
  names->remove(path);
  names->sync_directory(directory_of(path));
}

Task<void> ClaimFile::write(std::string text) {
  file_ = bench_.storage.create_unnamed(directory_of(path_), io::Role::output, io::Caching::buffered);
  auto* const bytes = reinterpret_cast<std::byte*>(text.data());
  co_await bench_.reactor.write(*file_, 0, bytes, text.size());
}

std::string ClaimFile::publish() {
  if (!file_) return "";
  std::string notice = bench_.storage.publish(*file_, path_);
  bench_.storage.close(std::move(file_));
  return notice;
}

}  // namespace ecosort::engine
