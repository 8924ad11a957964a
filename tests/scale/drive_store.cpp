#include "scale/drive_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/memory.h"

namespace ecosort::scale {

namespace {

[[noreturn]] void fail(const char* call) { throw std::system_error(errno, std::generic_category(), call); }

Descriptor unnamed_file(const std::string& directory, std::uint64_t size) {
  Descriptor file(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.get() < 0) fail("open");
  if (::ftruncate(file.get(), static_cast<off_t>(size)) != 0) fail("ftruncate");
  return file;
}

void read_all(int file, std::byte* bytes, std::size_t size, std::uint64_t from) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t got = ::pread(file, bytes + done, size - done, static_cast<off_t>(from + done));
    if (got < 0 && errno != EINTR) fail("pread");
    if (got == 0) throw std::system_error(EIO, std::generic_category(), "pread");
    done += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  }
}

void write_all(int file, const std::byte* bytes, std::size_t size, std::uint64_t from) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t put = ::pwrite(file, bytes + done, size - done, static_cast<off_t>(from + done));
    if (put < 0 && errno != EINTR) fail("pwrite");
    done += static_cast<std::size_t>(std::max<ssize_t>(put, 0));
  }
}

void punch(int file, std::uint64_t from, std::uint64_t size) {
  constexpr int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  if (::fallocate(file, mode, static_cast<off_t>(from), static_cast<off_t>(size)) != 0) fail("fallocate");
}

std::uint64_t bytes_taken(int file) {
  struct stat status{};
  if (::fstat(file, &status) != 0) fail("fstat");
  return static_cast<std::uint64_t>(status.st_blocks) * 512;
}

// Calls `work(unit, at, done, part)` for the part of each unit that a range has.
template <class Work>
void for_each_unit(std::uint64_t from, std::uint64_t size, const Work& work) {
  for (std::uint64_t done = 0; done < size;) {
    const std::uint64_t at = (from + done) % unit_bytes, part = std::min(unit_bytes - at, size - done);
    work((from + done) / unit_bytes, at, done, part);
    done += part;
  }
}

}  // namespace

DriveStore::DriveStore(const std::string& directory, std::uint64_t size, std::uint64_t records)
    : units_(size / unit_bytes),
      slot_bytes_(slot_bytes(records)),
      slots_(unnamed_file(directory, units_.size() * slot_bytes_)),
      plain_(unnamed_file(directory, size_bytes())) {
  ::posix_fadvise(slots_.get(), 0, 0, POSIX_FADV_RANDOM);  // read() says what is next
}

void DriveStore::read(std::uint64_t from, std::span<std::byte> bytes) {
  read_ += bytes.size();
  const std::shared_lock held(clearing_);
  if (bytes.size() > unit_bytes)  // the slots lie side by side: one request for all of them
    ::posix_fadvise(slots_.get(), static_cast<off_t>(from / unit_bytes * slot_bytes_),
                    static_cast<off_t>((bytes.size() / unit_bytes + 2) * slot_bytes_), POSIX_FADV_WILLNEED);
  for_each_unit(from, bytes.size(), [&](std::uint64_t unit, std::size_t at, std::size_t done, std::size_t part) {
    std::array<std::byte, unit_bytes> whole;
    std::byte* const to = part == unit_bytes ? bytes.data() + done : whole.data();
    {
      const std::lock_guard lock(lock_of(unit));
      load(unit, to);
    }
    if (part < unit_bytes) std::memcpy(bytes.data() + done, whole.data() + at, part);
  });
}

void DriveStore::write(std::uint64_t from, std::span<const std::byte> bytes) {
  written_ += bytes.size();
  const std::shared_lock held(clearing_);
  for_each_unit(from, bytes.size(), [&](std::uint64_t unit, std::size_t at, std::size_t done, std::size_t part) {
    write_part(unit, at, bytes.subspan(done, part));
  });
}

void DriveStore::write_part(std::uint64_t unit, std::size_t at, std::span<const std::byte> bytes) {
  const std::lock_guard lock(lock_of(unit));
  if (bytes.size() == unit_bytes) return save(unit, bytes, 0, unit_bytes);
  std::array<std::byte, unit_bytes> whole;
  load(unit, whole.data());
  std::ranges::copy(bytes, whole.begin() + static_cast<std::ptrdiff_t>(at));
  save(unit, whole, at, bytes.size());
}

void DriveStore::clear(std::uint64_t from, std::uint64_t size) {
  cleared_ += size;
  const std::unique_lock alone(clearing_);
  const std::vector<std::byte> zeros(unit_bytes);
  bool were_plain = false;
  for_each_unit(from, size, [&](std::uint64_t unit, std::size_t at, std::size_t, std::size_t part) {
    if (part < unit_bytes) return write_part(unit, at, std::span(zeros).first(part));
    were_plain = were_plain || units_[unit].kind == Unit::Kind::plain;
    units_[unit] = {};
  });
  const std::uint64_t first = div_up(from, unit_bytes), end = (from + size) / unit_bytes;
  if (first >= end) return;
  punch_slots(first, end);
  if (were_plain) punch(plain_.get(), first * unit_bytes, (end - first) * unit_bytes);
}

// To punch a part of a page is to write the rest of it, which must be read first. So a page goes with the last slot in it.
void DriveStore::punch_slots(std::uint64_t first, std::uint64_t end) {
  const auto is_free = [&](std::uint64_t begin_unit, std::uint64_t end_unit) {
    return std::none_of(units_.begin() + static_cast<std::ptrdiff_t>(begin_unit),
                        units_.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(end_unit, units_.size())),
                        [](const Unit& unit) { return unit.kind == Unit::Kind::packed; });
  };
  std::uint64_t from = round_down(first * slot_bytes_, page_bytes), to = round_up(end * slot_bytes_, page_bytes);
  if (!is_free(from / slot_bytes_, first)) from += page_bytes;
  if (!is_free(end, div_up(to, slot_bytes_))) to -= page_bytes;
  if (from < to) punch(slots_.get(), from, to - from);
}

// Under the unit's lock.
void DriveStore::load(std::uint64_t unit, std::byte* bytes) {
  Slot slot;
  const Unit& what = units_[unit];
  if (what.kind == Unit::Kind::plain) return read_all(plain_.get(), bytes, unit_bytes, unit * unit_bytes);
  if (what.kind == Unit::Kind::packed) read_all(slots_.get(), slot.data(), what.size, unit * slot_bytes_);
  unpack(what, slot, bytes);
}

// Under the unit's lock. Of a plain unit that stays one, only what has changed is written.
void DriveStore::save(std::uint64_t unit, std::span<const std::byte> bytes, std::size_t changed_at, std::size_t changed) {
  Slot slot;
  const Unit now = pack(bytes.data(), slot, slot_bytes_);
  const bool was_plain = units_[unit].kind == Unit::Kind::plain, is_plain = now.kind == Unit::Kind::plain;
  if (now.kind == Unit::Kind::packed) write_all(slots_.get(), slot.data(), now.size, unit * slot_bytes_);
  if (is_plain && was_plain) write_all(plain_.get(), bytes.data() + changed_at, changed, unit * unit_bytes + changed_at);
  if (is_plain && !was_plain) write_all(plain_.get(), bytes.data(), unit_bytes, unit * unit_bytes);
  units_[unit] = now;
  if (was_plain && !is_plain) punch(plain_.get(), unit * unit_bytes, unit_bytes);
}

std::uint64_t DriveStore::real_bytes() const { return bytes_taken(slots_.get()) + bytes_taken(plain_.get()); }

std::string DriveStore::report() const {
  return fmt::format(R"({{"read_bytes": {}, "written_bytes": {}, "cleared_bytes": {}, "real_bytes": {}, "plain_bytes": {}}})"
                     "\n",
                     read_.load(), written_.load(), cleared_.load(), real_bytes(), bytes_taken(plain_.get()));
}

}  // namespace ecosort::scale
