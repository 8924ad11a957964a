#include "run/description.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/byte_stream.h"
#include "base/errors.h"
#include "formats/records/key_spec.h"
#include "hash/block_checksum.h"

namespace ecosort::run {
namespace {

constexpr std::uint64_t magic = 0x314e55524f434521;  // "!ECORUN1"
constexpr std::uint64_t version = 2, version_without_truncation = 1;
constexpr std::size_t checksum_bytes = 8, size_at = 16, begin_bytes = 24;  // magic, version, size
constexpr std::size_t fixed_bytes = 23 * sizeof(std::uint64_t);            // all but order and first row, of runs as they are
constexpr std::size_t packed_bytes = sizeof(std::uint64_t);                // of packed ones, besides
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 60U, most_runs = std::uint64_t{1} << 40U;
constexpr std::uint64_t unique_flag = 1, header_flag = 2, follows_flag = 4, first_row_flag = 8;

struct Contradiction {};
[[noreturn]] void contradict() { throw Contradiction(); }

std::uint64_t flags_of(const Description& description) {
  return (description.is_unique ? unique_flag : 0) | (description.is_header ? header_flag : 0) |
         (description.follows_header ? follows_flag : 0) | (description.first_row ? first_row_flag : 0);
}

std::uint64_t checksum_of(const std::byte* bytes, std::size_t size) { return hash::block_checksum(bytes, size, magic); }

[[noreturn]] void damaged(const std::string& name) {
  throw DamagedRun(
      fmt::format("the description of the run '{}' is damaged: what was read is not what was written (check the drive)", name));
}

std::uint64_t number_at(std::span<const std::byte> bytes, std::size_t at) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

void set_flags(Description& description, std::uint64_t flags) {
  description.is_unique = (flags & unique_flag) != 0;
  description.is_header = (flags & header_flag) != 0;
  description.follows_header = (flags & follows_flag) != 0;
  if ((flags & first_row_flag) != 0) description.first_row.emplace();
}

// Checks what the arithmetic of a Description takes for granted, and what every run has.
bool is_consistent(const Description& d) {
  const bool has_blocks = d.block_bytes % page_bytes == 0 && d.block_bytes > 0 && d.block_bytes <= UINT32_MAX;
  if (!has_blocks || d.head_bytes % page_bytes != 0 || d.head_bytes > most_head_bytes || d.bytes == 0 || d.bytes > most_bytes)
    return false;
  if (d.span == 0 || d.position > most_runs || d.span > most_runs || (d.of != 0 && d.position + d.span > d.of)) return false;
  if (d.has_rows()) return d.record_size == 0 && d.longest <= d.bytes && d.hash.count <= d.bytes;
  return d.record_size > 0 && d.record_size <= records::max_record_size && d.record_size + trailer_bytes <= d.block_bytes &&
         d.bytes % d.record_size == 0 && d.hash.count == d.bytes / d.record_size && flags_of(d) == 0;
}

// Each block takes a page at least, and no more than it would as it is; all of them, less.
bool is_packing_consistent(const Description& d) {
  if (!d.is_packed()) return true;
  const std::uint64_t blocks = d.blocks();
  return d.direction == Direction::forward && d.stored_bytes % page_bytes == 0 && d.stored_bytes / page_bytes <= UINT32_MAX &&
         d.stored_bytes / page_bytes >= blocks && d.stored_bytes < blocks * d.block_bytes;
}

// Behind magic, version and size.
Description next_description(ByteReader& in) {
  Description d;
  d.head_bytes = in.next();
  const std::uint64_t format = in.next_below(1 + format_names.size());
  in.require(format > 0);
  d.format = static_cast<Format>(format - 1);
  d.direction = static_cast<Direction>(in.next_below(2));
  d.codec = static_cast<codec::BlockCodec>(in.next_below(codec::block_codecs));
  set_flags(d, in.next_below(2 * first_row_flag));
  d.record_size = in.next_32();
  for (std::uint64_t* number : {&d.block_bytes, &d.job, &d.run, &d.position, &d.span, &d.of, &d.bytes, &d.longest, &d.hash.low,
                                &d.hash.high, &d.hash.count})
    *number = in.next();
  d.order = in.next_bytes();
  std::string row = in.next_text();
  if (d.is_packed()) d.stored_bytes = in.next();
  in.end();
  if (d.first_row)
    d.first_row = std::move(row);
  else
    in.require(row.empty());
  in.require(is_consistent(d) && is_packing_consistent(d));
  return d;
}

}  // namespace

void take_places(Description& d, const std::string& name, std::span<const std::byte> bytes) {
  d.ends = places_of_run(name, bytes, d.blocks(), d.block_bytes, d.stored_bytes, run_seed(d.job, d.run));
}

std::uint64_t head_bytes_for(std::size_t order_bytes, std::size_t first_row_bytes, std::uint64_t unit, std::uint64_t kept_bytes) {
  const std::uint64_t bytes = round_up(fixed_bytes + packed_bytes + order_bytes + first_row_bytes + kept_bytes, unit);
  if (bytes <= most_head_bytes) return bytes;
  throw UsageError(fmt::format("the keys and the first row of a job that can be resumed may have {} bytes; these have {}",
                               most_head_bytes - fixed_bytes - packed_bytes, order_bytes + first_row_bytes));
}

std::vector<std::byte> encode(const Description& d) {
  const std::string row = d.first_row.value_or("");
  const std::size_t size = fixed_bytes + (d.is_packed() ? packed_bytes : 0) + d.order.size() + row.size();
  if (size + d.kept.size() > d.head_bytes) throw InternalError("the description of a run is longer than the room for it");
  ByteWriter out;
  for (const std::uint64_t value : {magic,
                                    version,
                                    std::uint64_t{size},
                                    d.head_bytes,
                                    1 + static_cast<std::uint64_t>(d.format),
                                    static_cast<std::uint64_t>(d.direction),
                                    static_cast<std::uint64_t>(d.codec),
                                    flags_of(d),
                                    std::uint64_t{d.record_size},
                                    d.block_bytes,
                                    d.job,
                                    d.run,
                                    d.position,
                                    d.span,
                                    d.of,
                                    d.bytes,
                                    d.longest,
                                    d.hash.low,
                                    d.hash.high,
                                    d.hash.count})
    out.add(value);
  out.add(d.order);
  out.add(row);
  if (d.is_packed()) out.add(d.stored_bytes);
  out.add(checksum_of(out.bytes().data(), out.bytes().size()));
  std::vector<std::byte> bytes = out.take();
  bytes.resize(d.head_bytes);
  std::ranges::copy(d.kept, bytes.end() - static_cast<std::ptrdiff_t>(d.kept.size()));
  return bytes;
}

std::uint64_t description_bytes(std::span<const std::byte> first, const std::string& name) {
  if (first.size() < begin_bytes || number_at(first, 0) != magic)
    throw UsageError(fmt::format("'{}' is no run of a job: it does not begin with the description of one", name));
  const std::uint64_t found = number_at(first, sizeof magic);
  if (found != version && found != version_without_truncation)
    throw UsageError(
        fmt::format("'{}' is a run of format version {}, and this ecosort reads version {}; merge it with the "
                    "version that made it",
                    name, found, version));
  const std::uint64_t size = number_at(first, size_at);
  if (size < fixed_bytes || size > most_head_bytes) damaged(name);
  return size;
}

Description decode_description(std::span<const std::byte> bytes, const std::string& name) {
  const std::uint64_t size = description_bytes(bytes, name);
  if (size > bytes.size()) damaged(name);
  const std::size_t checked = size - checksum_bytes;
  if (checksum_of(bytes.data(), checked) != number_at(bytes, checked)) damaged(name);
  try {
    ByteReader in(bytes.subspan(begin_bytes, checked - begin_bytes), contradict);
    Description description = next_description(in);
    if (size > description.head_bytes) damaged(name);
    return description;
  } catch (const Contradiction&) {
    throw UsageError(
        fmt::format("the description of the run '{}' contradicts itself, or is one that only a later version "
                    "reads",
                    name));
  }
}

}  // namespace ecosort::run
