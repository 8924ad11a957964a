#include "job/written_files.h"

#include <filesystem>

#include "io/plain_file.h"
#include "job/claim.h"
#include "job/set_aside.h"
#include "job/split_request.h"

namespace ecosort::job {

namespace {

constexpr std::size_t least_digits = 5;  // of the number of a file

// Returns whether a file of the split, or its manifest, may have this name.
bool is_of_split(const std::string& path, const WrittenFiles& files) {
  if (files.split.empty()) return false;
  const engine::rows::SplitNames names = split_names_of(files.split, files.output);
  const std::filesystem::path found = io::name_behind_links(path);
  const std::string name = found.filename().string();
  const bool fits =
      name.size() >= names.before.size() + names.behind.size() && name.starts_with(names.before) && name.ends_with(names.behind);
  const std::string value = fits ? name.substr(names.before.size(), name.size() - names.before.size() - names.behind.size()) : "";
  const bool is_number = value.size() >= least_digits && value.find_first_not_of("0123456789") == std::string::npos;
  return ((fits && (is_number || files.split.starts_with("by="))) || name == names.before + "manifest.json") &&
         io::is_same_file(found.parent_path().string(), names.directory);
}

}  // namespace

WrittenFiles written_files(const Request& request) {
  const std::string& output = request.place.output;
  WrittenFiles files{.output = output, .set_aside = set_aside_path(request)};
  files.split = request.place.split;
  if (request.place.claim && output != "-") files.claim = claim_path(io::name_behind_links(output));
  return files;
}

bool are_one_file(const std::string& one, const std::string& other) { return io::is_same_file(one, other); }

bool is_in(const std::string& path, const std::string& directory) {
  const std::string name = io::name_behind_links(path), whole = io::name_behind_links(directory);
  return name == whole || name.starts_with(whole + "/");
}

const char* role_of(const std::string& path, const WrittenFiles& files) {
  if (is_of_split(path, files)) return files.split.starts_with("by=") ? "perhaps a file of the split" : "a file of the split";
  if (!files.output.empty() && files.output != "-" && io::is_same_file(path, files.output)) return "the output";
  if (!files.claim.empty() && io::is_same_file(path, files.claim)) return "the claim of the output";
  if (!files.set_aside.empty() && io::is_same_file(path, files.set_aside)) return "the file of bad rows";
  return nullptr;
}

}  // namespace ecosort::job
