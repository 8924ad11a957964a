#include "job/written_files.h"

#include <filesystem>

#include "io/plain_file.h"
#include "job/claim.h"
#include "job/set_aside.h"

namespace ecosort::job {

namespace {

// Its files, or their manifest.
bool is_of_split(const std::string& path, const std::string& pattern) {
  const std::filesystem::path named = pattern, found = io::name_behind_links(path);
  const std::string directory = named.parent_path().string(), base = named.filename().string(), name = found.filename().string();
  const std::size_t place = base.find("{}");
  if (place == std::string::npos) return false;
  const std::string before = base.substr(0, place), behind = base.substr(place + 2);
  const bool is_file = name.size() >= before.size() + behind.size() && name.starts_with(before) && name.ends_with(behind);
  return (is_file || name == before + "manifest.json") &&
         io::is_same_file(found.parent_path().string(), directory.empty() ? "." : directory);
}

}  // namespace

WrittenFiles written_files(const Request& request) {
  const std::string& output = request.place.output;
  WrittenFiles files{.output = output, .set_aside = set_aside_path(request)};
  if (!request.place.split.empty()) files.split = output;
  if (request.place.claim && output != "-") files.claim = claim_path(io::name_behind_links(output));
  return files;
}

const char* role_of(const std::string& path, const WrittenFiles& files) {
  if (is_of_split(path, files.split)) return "one of the files of --split";
  if (!files.output.empty() && files.output != "-" && io::is_same_file(path, files.output)) return "the output";
  if (!files.claim.empty() && io::is_same_file(path, files.claim)) return "the claim of the output";
  if (!files.set_aside.empty() && io::is_same_file(path, files.set_aside)) return "the file of --bad-rows";
  return nullptr;
}

}  // namespace ecosort::job
