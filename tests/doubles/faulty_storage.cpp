#include "doubles/faulty_storage.h"

#include <cerrno>

#include "base/errors.h"

namespace ecosort::io {

namespace {

[[nodiscard]] FaultPoint fault_point(PublishStep step) noexcept {
  switch (step) {
    case PublishStep::attributes:
      return FaultPoint::attributes;
    case PublishStep::link:
      return FaultPoint::link;
    case PublishStep::rename:
      return FaultPoint::rename;
    case PublishStep::sync_directory:
      break;
  }
  return FaultPoint::sync_directory;
}

}  // namespace

// Throws if the plan wants this operation to fail.
void FaultyStorage::pass(Role role, FaultPoint point, const std::string& path) {
  const Effect effect = plan_.next(role, point);
  if (effect.kind == Effect::Kind::error) throw IoError::from_call(to_string(point), path, effect.number);
}

FilePtr FaultyStorage::open_input(const std::string& path, Caching caching) {
  pass(Role::input, FaultPoint::open, path);
  return below_.open_input(path, caching);
}

FilePtr FaultyStorage::create_unnamed(const std::string& directory, Role role, Caching caching) {
  pass(role, FaultPoint::create, directory);
  return below_.create_unnamed(directory, role, caching);
}

FilePtr FaultyStorage::open_standard_output() { return below_.open_standard_output(); }

bool FaultyStorage::reserve(File& file, std::uint64_t offset, std::uint64_t size_bytes) {
  try {
    pass(file.role(), FaultPoint::reserve, file.path());
  } catch (const IoError& error) {
    if (error.error_number() == EOPNOTSUPP) return false;
    throw;
  }
  return below_.reserve(file, offset, size_bytes);
}

bool FaultyStorage::wait_for_space(const File& file, unsigned attempt) { return below_.wait_for_space(file, attempt); }

void FaultyStorage::set_size(File& file, std::uint64_t size_bytes) {
  pass(file.role(), FaultPoint::set_size, file.path());
  below_.set_size(file, size_bytes);
}

void FaultyStorage::sync(File& file) {
  pass(file.role(), FaultPoint::sync, file.path());
  below_.sync(file);
}

std::string FaultyStorage::publish(File& file, const std::string& final_path, const BeforeStep& before_step) {
  return below_.publish(file, final_path, [&](PublishStep step) {
    if (before_step) before_step(step);
    pass(file.role(), fault_point(step), final_path);
  });
}

void FaultyStorage::close(FilePtr file) {
  pass(file->role(), FaultPoint::close, file->path());
  below_.close(std::move(file));
}

FileState FaultyStorage::state(const File& file) {
  pass(file.role(), FaultPoint::state, file.path());
  return below_.state(file);
}

std::uint64_t FaultyStorage::free_bytes(const std::string& directory) { return below_.free_bytes(directory); }

FilePtr FaultyStorage::create_named(const std::string& path, Role role, Caching caching) {
  pass(role, FaultPoint::create, path);
  return below_.create_named(path, role, caching);
}

FilePtr FaultyStorage::open_named(const std::string& path, Role role, Caching caching) {
  pass(role, FaultPoint::open, path);
  return below_.open_named(path, role, caching);
}

std::string FaultyStorage::adopt_attributes(File& file, const std::string& of) {
  pass(file.role(), FaultPoint::attributes, of);
  return below_.adopt_attributes(file, of);
}

void FaultyStorage::rename(const std::string& from, const std::string& to) {
  pass(Role::journal, FaultPoint::rename, to);
  below_.rename(from, to);
}

void FaultyStorage::rename_new(const std::string& from, const std::string& to) {
  pass(Role::journal, FaultPoint::rename, to);
  below_.rename_new(from, to);
}

FilePtr FaultyStorage::open_directory(const std::string& path) {
  pass(Role::journal, FaultPoint::open, path);
  return below_.open_directory(path);
}

bool FaultyStorage::leads_to(const std::string& path, const File& directory) { return below_.leads_to(path, directory); }

void FaultyStorage::remove(const std::string& path) {
  pass(Role::journal, FaultPoint::remove, path);
  below_.remove(path);
}

void FaultyStorage::make_directory(const std::string& path) {
  pass(Role::journal, FaultPoint::make_directory, path);
  below_.make_directory(path);
}

void FaultyStorage::remove_directory(const std::string& path) {
  pass(Role::journal, FaultPoint::remove_directory, path);
  below_.remove_directory(path);
}

void FaultyStorage::sync_directory(const std::string& path) {
  pass(Role::journal, FaultPoint::sync_directory, path);
  below_.sync_directory(path);
}

std::vector<std::string> FaultyStorage::list(const std::string& directory) {
  pass(Role::journal, FaultPoint::list, directory);
  return below_.list(directory);
}

bool FaultyStorage::exists(const std::string& path) { return below_.exists(path); }

}  // namespace ecosort::io
