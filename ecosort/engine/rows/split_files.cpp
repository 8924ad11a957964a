#include "engine/rows/split_files.h"

#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include "base/errors.h"
#include "base/json.h"
#include "base/trusted_place.h"
#include "engine/claim.h"
#include "io/posix_storage.h"

namespace ecosort::engine::rows {
namespace {

constexpr std::size_t most_files = 50'000;
constexpr std::string_view schema_name = "ecosort.split/1";
constexpr std::string_view lock_name = "ecosort.lock", manifest_name = "ecosort.manifest";

}  // namespace

SplitFiles::SplitFiles(io::NamedStorage& storage, SplitNames names, std::set<io::FileNumber> inputs)
    : storage_(storage),
      names_(std::move(names)),
      inputs_(std::move(inputs)),
      stage_(names_.path(names_.pattern() + ".split")),
      manifest_(names_.path(names_.before + "manifest.json")) {
  before_ = files_before();
  take_stage();
}

namespace {

// Others could put their own files in the place of those of the split.
void demand_trusted(const std::string& stage) {
  struct stat info{};
  if (::lstat(stage.c_str(), &info) != 0) throw IoError::from_call("examine", stage, errno);
  const std::string reason =
      S_ISDIR(info.st_mode) ? reason_to_distrust(info, stage, root_and_user()) : fmt::format("'{}' is no directory", stage);
  if (!reason.empty()) throw UsageError(fmt::format("{}; a split needs that name: move it away", reason));
}

}  // namespace

// Throws NameError for a device or a pipe, and UsageError for an input, and where a job waits.
void SplitFiles::demand_replaceable(const std::string& path) const {
  const std::string resolved = io::resolve_free_output(path).path;
  if (io::is_one_of(resolved, inputs_))
    throw UsageError(fmt::format("'{}' is an input, and would become a file of the split; choose other names with -o", path));
}

SplitFiles::~SplitFiles() {
  if (lock_ == nullptr) return;
  try {
    clear_stage();
    storage_.remove(staged(std::string(lock_name)));
    lock_.reset();
    storage_.remove_directory(stage_);
  } catch (const Error&) {
    lock_.reset();  // the next sort to these names clears it
  }
}

void SplitFiles::take_stage() {
  const std::string lock = staged(std::string(lock_name));
  try {
    storage_.make_directory(stage_);
  } catch (const IoError& error) {
    if (error.error_number() != EEXIST) throw;
    demand_trusted(stage_);
    const std::vector<std::string> left = storage_.list(stage_);
    if (!left.empty() && !storage_.exists(lock))
      throw UsageError(fmt::format("'{}' is in the way, and is not of a sort; move it away", stage_));
  }
  io::FilePtr file = storage_.exists(lock) ? storage_.open_named(lock, io::Role::journal, io::Caching::buffered)
                                           : storage_.create_named(lock, io::Role::journal, io::Caching::buffered);
  if (::flock(file->fd(), LOCK_EX | LOCK_NB) != 0)
    throw UsageError(fmt::format("another sort writes to these names ('{}'); wait for it, or choose others", stage_));
  lock_ = std::move(file);
  clear_stage();
}

void SplitFiles::clear_stage() {
  for (const std::string& name : storage_.list(stage_))
    if (name != lock_name) storage_.remove(staged(name));
}

io::FilePtr SplitFiles::create(const std::string& value) {
  const std::string name = names_.before + value + names_.behind;
  if (files_.size() >= most_files)
    throw UsageError(
        fmt::format("the output would be more than {} files; make them larger, or split by a shorter beginning", most_files));
  if (names_.path(name) == manifest_ || name == lock_name || name == manifest_name)
    throw UsageError(fmt::format("'{}' is the name of another file of the split; choose other names with -o", name));
  if (!known_.insert(name).second)
    throw UsageError(fmt::format("rows for '{}' come again behind others: sort by what the rows are split by", name));
  const std::string path = names_.path(name);
  demand_replaceable(path);
  files_.push_back({name});
  return storage_.create_named(staged(name), io::Role::output, io::Caching::direct_if_possible);
}

void SplitFiles::add_notice(const std::string& text) {
  if (notice_.empty()) notice_ = text;
}

void SplitFiles::complete(io::FilePtr file, std::uint64_t rows, std::uint64_t bytes) {
  SplitFile& done = files_.back();
  done.rows = rows;
  done.bytes = bytes;
  add_notice(storage_.adopt_attributes(*file, names_.path(done.name)));
  storage_.sync(*file);
  storage_.close(std::move(file));
}

// Returns the files that the manifest of an earlier split lists.
std::vector<std::string> SplitFiles::files_before() const {
  if (!storage_.exists(manifest_)) return {};
  demand_replaceable(manifest_);
  const std::vector<std::byte> bytes = io::read_whole_file(manifest_);
  const auto old = Json::parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const Json* const files = old && old->is_object() ? old->find("files") : nullptr;
  const std::string* const schema = old && old->is_object() ? old->find_text("schema") : nullptr;
  if (schema == nullptr || *schema != schema_name || files == nullptr || files->list() == nullptr)
    throw UsageError(fmt::format("'{}' is in the way, and is no manifest of a split; move it away", manifest_));
  std::vector<std::string> names;
  for (const Json& file : *files->list())
    if (const std::string* const name = file.find_text("file")) names.push_back(*name);
  return names;
}

// Reports files of an earlier split only: others are the user's.
void SplitFiles::tell_of_files_before() {
  std::erase_if(before_,
                [this](const std::string& name) { return known_.contains(name) || !storage_.exists(names_.path(name)); });
  if (before_.empty()) return;
  const bool is_one = before_.size() == 1;
  add_notice(fmt::format("{} file{} of an earlier split stay{} beside the new ones, the first is '{}'", before_.size(),
                         is_one ? "" : "s", is_one ? "s" : "", before_.front()));
}

void SplitFiles::write_manifest(const std::string& split, const hash::MultisetHash& rows) {
  Json list = Json::array();
  for (const SplitFile& file : files_) list.push_back({{"file", file.name}, {"rows", file.rows}, {"bytes", file.bytes}});
  const Json manifest{
      {"schema", schema_name}, {"split", split}, {"rows", rows.count}, {"hash", rows.to_hex()}, {"files", std::move(list)}};
  const std::string text = manifest.text(2) + "\n";
  io::PlainFile file = io::PlainFile::create(staged(std::string(manifest_name)));
  file.write(std::as_bytes(std::span(text)));
  file.sync();
  file.close();
}

std::string SplitFiles::publish(const std::string& split, const hash::MultisetHash& rows) {
  storage_.demand_complete_input();
  write_manifest(split, rows);
  storage_.sync_directory(stage_);
  tell_of_files_before();
  if (storage_.exists(manifest_)) {
    storage_.remove(manifest_);
    storage_.sync_directory(names_.directory);
  }
  for (const SplitFile& file : files_) take_claim_away(storage_, names_.path(file.name));
  for (const SplitFile& file : files_) storage_.rename(staged(file.name), names_.path(file.name));
  storage_.sync_directory(names_.directory);
  storage_.rename(staged(std::string(manifest_name)), manifest_);
  storage_.sync_directory(names_.directory);
  return notice_;
}

}  // namespace ecosort::engine::rows
