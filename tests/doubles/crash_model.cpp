#include "doubles/crash_model.h"

#include <algorithm>
#include <array>

#include "base/errors.h"
#include "base/random.h"

namespace ecosort::io {

namespace {

using Kind = StoreEvent::Kind;
using Change = StoreEvent::Change;

constexpr std::uint64_t sector_bytes = 512;
constexpr std::uint64_t garbage_one_in = 8;

[[nodiscard]] std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

[[nodiscard]] std::set<std::string> directories_of(const StoreEvent& event) {
  std::set<std::string> directories{directory_of(event.name)};
  if (event.kind == Kind::rename) directories.insert(directory_of(event.other_name));
  return directories;
}

void destroy_sector(PagedBytes& contents, std::uint64_t begin, Random& random) {
  std::array<std::byte, sector_bytes> garbage{};
  const std::uint64_t size = std::min(sector_bytes, contents.size() - std::min(contents.size(), begin));
  for (std::byte& byte : garbage) byte = static_cast<std::byte>(random.next());
  contents.write(begin, garbage.data(), static_cast<std::size_t>(size));
}

// Sector by sector: old, new, or now and then destroyed, with everything else in the sector.
void tear_write(PagedBytes& contents, const Change& change, Random& random) {
  const std::uint64_t end = change.offset + change.size;
  for (std::uint64_t at = change.offset; at < end;) {
    const std::uint64_t sector = at / sector_bytes * sector_bytes;
    const std::uint64_t next = std::min(end, sector + sector_bytes);
    if (random.coin()) contents.write(at, change.data->data() + (at - change.offset), static_cast<std::size_t>(next - at));
    if (random.below(garbage_one_in) == 0) destroy_sector(contents, sector, random);
    at = next;
  }
}

// The rest of the block in which a file ends is cleared: the block is written anew, also what is left of the file in it.
void tear_end(PagedBytes& contents, std::uint64_t size, Random& random) {
  constexpr std::uint64_t block_bytes = 4096;
  const std::uint64_t end = std::min(size, contents.size());
  for (std::uint64_t at = size / block_bytes * block_bytes; at < end; at += sector_bytes)
    if (random.coin()) destroy_sector(contents, at, random);
}

// Decides for each unsynced change whether it persists.
class Fate {
 public:
  Fate(CutPolicy policy, std::uint64_t seed) : policy_(policy), random_(seed) {}

  [[nodiscard]] bool persists() {
    if (policy_ == CutPolicy::all_kept) return true;
    return policy_ != CutPolicy::all_lost && random_.coin();
  }

  void befall(PagedBytes& contents, const Change& change) {
    if (policy_ == CutPolicy::torn && change.kind == Change::Kind::write)
      tear_write(contents, change, random_);
    else if (policy_ == CutPolicy::torn && change.kind == Change::Kind::set_size)
      befall_size(contents, change);
    else if (persists())
      apply_change(contents, change);
  }

 private:
  void befall_size(PagedBytes& contents, const Change& change) {
    if (change.size < contents.size()) tear_end(contents, change.size, random_);
    if (persists()) apply_change(contents, change);
  }

  const CutPolicy policy_;
  Random random_;
};

}  // namespace

void apply_change(PagedBytes& contents, const Change& change) {
  switch (change.kind) {
    case Change::Kind::write:
      contents.write(change.offset, change.data->data(), static_cast<std::size_t>(change.size));
      return;
    case Change::Kind::set_size:
      contents.resize(change.size);
      return;
    case Change::Kind::release:
      contents.release(change.offset, change.size);
      return;
    case Change::Kind::reserve:
      contents.reserve(change.offset, change.size);
      return;
  }
}

const char* to_string(CutPolicy policy) noexcept {
  static constexpr std::array names{"all kept", "all lost", "random subset", "torn"};
  return names[static_cast<std::size_t>(policy)];
}

CrashModel::CrashModel(const DiskImage& initial) {
  durable_names_.directories = initial.directories;
  std::uint64_t number = 0;
  for (const auto& [path, contents] : initial.files) {
    inodes_[++number].durable = contents;
    durable_names_.files[path] = number;
  }
}

void CrashModel::apply(const StoreEvent& event) {
  switch (event.kind) {
    case Kind::issue_change:
      inodes_[event.inode].in_flight.push_back({event.request, event.change});
      return;
    case Kind::complete_change:
      return complete_change(event);
    case Kind::issue_sync: {
      Inode& inode = inodes_[event.inode];
      inode.syncs[event.request] = inode.completed_before + inode.completed.size();
      return;
    }
    case Kind::complete_sync:
      return complete_sync(event);
    case Kind::sync_directory:
      return sync_directory(event.name);
    case Kind::link:
    case Kind::rename:
    case Kind::unlink:
    case Kind::make_directory:
    case Kind::remove_directory:
      name_changes_.push_back({event, directories_of(event)});
      return;
  }
}

void CrashModel::complete_change(const StoreEvent& event) {
  Inode& inode = inodes_[event.inode];
  const auto at = std::find_if(inode.in_flight.begin(), inode.in_flight.end(),
                               [&](const Pending& pending) { return pending.request == event.request; });
  if (at == inode.in_flight.end()) throw InternalError("a change completed that was never issued");
  Pending pending = std::move(*at);
  inode.in_flight.erase(at);
  if (pending.change.kind != Change::Kind::set_size) pending.change.size = event.change.size;
  inode.completed.push_back(std::move(pending));
}

void CrashModel::complete_sync(const StoreEvent& event) {
  Inode& inode = inodes_[event.inode];
  const auto sync = inode.syncs.find(event.request);
  if (sync == inode.syncs.end()) throw InternalError("a sync completed that was never issued");
  const std::uint64_t covered = sync->second;
  inode.syncs.erase(sync);
  if (covered <= inode.completed_before) return;  // a later sync was faster
  const auto end = inode.completed.begin() + static_cast<std::ptrdiff_t>(covered - inode.completed_before);
  for (auto at = inode.completed.begin(); at != end; ++at) apply_change(inode.durable, at->change);
  inode.completed.erase(inode.completed.begin(), end);
  inode.completed_before = covered;
}

void CrashModel::sync_directory(const std::string& directory) {
  for (NameChange& change : name_changes_) change.unsynced.erase(directory);
  const auto end =
      std::find_if(name_changes_.begin(), name_changes_.end(), [](const NameChange& change) { return !change.unsynced.empty(); });
  for (auto at = name_changes_.begin(); at != end; ++at) durable_names_.apply(at->event);
  name_changes_.erase(name_changes_.begin(), end);
}

void CrashModel::Names::apply(const StoreEvent& event) {
  switch (event.kind) {
    case Kind::link:
      files[event.name] = event.inode;
      return;
    case Kind::rename: {
      files[event.other_name] = event.inode;
      if (const auto old = files.find(event.name); old != files.end() && old->second == event.inode) files.erase(old);
      return;
    }
    case Kind::unlink:
      if (const auto old = files.find(event.name); old != files.end() && old->second == event.inode) files.erase(old);
      return;
    case Kind::make_directory:
      directories.insert(event.name);
      return;
    case Kind::remove_directory:
      directories.erase(event.name);
      return;
    default:
      return;
  }
}

DiskImage CrashModel::image(CutPolicy policy, std::uint64_t seed) const {
  Fate fate(policy, seed);
  Names names = durable_names_;
  for (const NameChange& change : name_changes_)
    if (change.unsynced.empty() || fate.persists()) names.apply(change.event);

  DiskImage image;
  const auto is_reachable = [&](const std::string& path) {
    const std::string directory = directory_of(path);
    return directory == "/" || image.directories.contains(directory);
  };
  for (const std::string& directory : names.directories)  // parents sort first
    if (is_reachable(directory)) image.directories.insert(directory);
  std::map<std::uint64_t, PagedBytes> survived;  // a file may have two names
  for (const auto& [path, number] : names.files) {
    if (!is_reachable(path)) continue;
    const auto [entry, is_new] = survived.try_emplace(number);
    if (const auto inode = inodes_.find(number); is_new && inode != inodes_.end()) {
      entry->second = inode->second.durable;
      for (const Pending& pending : inode->second.completed) fate.befall(entry->second, pending.change);
      for (const Pending& pending : inode->second.in_flight) fate.befall(entry->second, pending.change);
    }
    image.files.emplace(path, entry->second);
  }
  return image;
}

bool CrashModel::has_unsynced() const {
  const auto is_dirty = [](const auto& entry) { return !entry.second.completed.empty() || !entry.second.in_flight.empty(); };
  return !name_changes_.empty() || std::any_of(inodes_.begin(), inodes_.end(), is_dirty);
}

}  // namespace ecosort::io
