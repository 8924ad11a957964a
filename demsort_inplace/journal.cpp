#include "demsort_inplace/journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

#include "base/errors.h"
#include "demsort_inplace/job_directory.h"
#include "hash/block_checksum.h"

namespace ecosort::demsort_inplace {

namespace {

constexpr std::uint64_t journal_block_bytes = 4096;
constexpr std::uint64_t state_places = 4;

// In front of every record.
struct Frame {
  std::uint64_t checksum;  // of all that follows, to the end of the payload; seeded with the job (0 for the header itself)
  std::uint64_t magic;
  std::uint64_t sequence;  // header: 1; run i: 2 + i; states: 1, 2, ...
  std::uint32_t kind;
  std::uint32_t payload_bytes;
};
static_assert(sizeof(Frame) == 32);

constexpr std::uint64_t magic = 0x314c4e4a4f434521;  // "!ECOJNL1"

std::uint64_t blocks_for(std::uint64_t payload_bytes) { return div_up(sizeof(Frame) + payload_bytes, journal_block_bytes); }

std::uint64_t checksum_of(const std::byte* record, std::uint64_t payload_bytes, std::uint64_t job) {
  return hash::block_checksum(record + sizeof(std::uint64_t), sizeof(Frame) - sizeof(std::uint64_t) + payload_bytes, job);
}

}  // namespace

Journal::Journal(io::Reactor& reactor, const io::File& file)
    : reactor_(reactor), file_(file), budget_(std::numeric_limits<std::uint64_t>::max()) {}

namespace {

// Places for runs in a journal that begins.
std::uint64_t first_places(const JobHeader& header) { return header.lines ? header.lines->run_places : header.layout.runs(); }

}  // namespace

std::uint64_t Journal::size_bytes(const JobHeader& header) {
  const std::uint64_t states = state_places * blocks_for(state_bytes(header));
  return (blocks_for(encode(header).size()) + states + first_places(header)) * journal_block_bytes;
}

void Journal::set_geometry(const JobHeader& header) {
  job_ = header.job;
  runs_ = first_places(header);
  more_runs_ = header.lines ? header.lines->run_places : 0;
  header_blocks_ = blocks_for(encode(header).size());
  state_blocks_ = blocks_for(state_bytes(header));
  next_state_ = 1;
  buffer_ = budget_.allocate(std::max(header_blocks_, state_blocks_) * journal_block_bytes, "a record of the journal");
}

std::uint64_t Journal::state_block(std::uint64_t sequence) const noexcept {
  return header_blocks_ + sequence % state_places * state_blocks_;
}

std::uint64_t Journal::run_block(std::uint64_t run) const noexcept { return header_blocks_ + state_places * state_blocks_ + run; }

// Counts as it was opened; a crash may have left the last places half made.
std::uint64_t Journal::places_in_file() const noexcept {
  const std::uint64_t blocks = file_.facts().size_bytes / journal_block_bytes;
  return blocks - std::min(blocks, run_block(0));
}

Task<void> Journal::write_zeros(std::uint64_t from, std::uint64_t to) {
  std::memset(buffer_.data(), 0, buffer_.size());
  for (std::uint64_t at = from; at < to; at += buffer_.size())
    co_await reactor_.write(file_, at, buffer_.data(), std::min<std::uint64_t>(buffer_.size(), to - at));
}

Task<void> Journal::create(const JobHeader& header) {
  set_geometry(header);
  co_await write_zeros(0, size_bytes(header));
  job_ = 0;
  const std::vector<std::byte> payload = encode(header);
  co_await write(0, 1, Kind::header, payload);
  job_ = header.job;
}

Task<void> Journal::write(std::uint64_t block, std::uint64_t sequence, Kind kind, const std::vector<std::byte>& payload) {
  const std::uint64_t size = blocks_for(payload.size()) * journal_block_bytes;
  std::memset(buffer_.data(), 0, size);
  Frame frame{0, magic, sequence, static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(payload.size())};
  std::memcpy(buffer_.data(), &frame, sizeof frame);
  std::memcpy(buffer_.data() + sizeof frame, payload.data(), payload.size());
  frame.checksum = checksum_of(buffer_.data(), payload.size(), job_);
  std::memcpy(buffer_.data(), &frame, sizeof frame);
  co_await reactor_.write(file_, block * journal_block_bytes, buffer_.data(), size);
  co_await reactor_.sync(file_);
}

Task<void> Journal::append(const RunDone& done) {
  if (done.run >= runs_) {
    if (more_runs_ == 0) throw InternalError("the journal has no place for another run");
    co_await write_zeros(run_block(runs_) * journal_block_bytes, run_block(runs_ + more_runs_) * journal_block_bytes);
    runs_ += more_runs_;
  }
  const std::vector<std::byte> payload = encode(done);
  if (blocks_for(payload.size()) > 1) throw InternalError("a run has more keys than its place in the journal holds");
  co_await write(run_block(done.run), 2 + done.run, Kind::run, payload);
}

Task<void> Journal::append(const State& state) {
  const std::vector<std::byte> payload = encode(state);
  const std::uint64_t sequence = next_state_++;
  co_await write(state_block(sequence), sequence, Kind::state, payload);
}

// Nothing where no valid record of this kind begins. Bytes that the file has, but that the drive does not give, may be a record:
// IoError.
Task<std::optional<Journal::Found>> Journal::read(std::uint64_t block, Kind kind) {
  const std::uint64_t from = block * journal_block_bytes, size = file_.facts().size_bytes;
  const std::uint64_t there = std::min<std::uint64_t>(size - std::min(size, from), buffer_.size());
  const std::size_t got = co_await reactor_.read(file_, from, buffer_.data(), buffer_.size(), there);
  Frame frame{};
  if (got < sizeof frame) co_return std::nullopt;
  std::memcpy(&frame, buffer_.data(), sizeof frame);
  if (frame.magic != magic || frame.kind != static_cast<std::uint32_t>(kind)) co_return std::nullopt;
  if (sizeof frame + frame.payload_bytes > got) co_return std::nullopt;
  if (frame.checksum != checksum_of(buffer_.data(), frame.payload_bytes, job_)) co_return std::nullopt;
  const std::byte* const payload = buffer_.data() + sizeof frame;
  co_return Found{frame.sequence, {payload, payload + frame.payload_bytes}};
}

namespace {

// `ecosort cluster` names its directories alike, and its journals are lines of text: "ba58f45b {...".
bool begins_as_of_cluster(const char* bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  return std::all_of(bytes, bytes + 8, [&](char c) { return digits.find(c) != std::string_view::npos; }) &&
         std::string_view(bytes + 8, 2) == " {";
}

[[noreturn]] void refuse_cluster(const std::string& journal) {
  const std::string directory = journal.substr(0, journal.rfind('/'));
  throw JobRefused(fmt::format("'{}' holds a job of a cluster; it continues with: ecosort cluster resume {}", directory,
                               directory.substr(0, directory.rfind(".ecosort"))));
}

}  // namespace

Task<std::optional<JobHeader>> Journal::read_header() {
  // The length of the header is in its first block; that it is nonsense is found out by the checksum.
  constexpr std::uint64_t most_bytes = std::uint64_t{16} << 20U;
  job_ = 0;
  buffer_ = budget_.allocate(journal_block_bytes, "the header of the journal");
  Frame frame{};
  if (co_await reactor_.read(file_, 0, buffer_.data(), journal_block_bytes, 0) < sizeof frame) co_return std::nullopt;
  if (begins_as_of_cluster(reinterpret_cast<const char*>(buffer_.data()))) refuse_cluster(file_.path());
  std::memcpy(&frame, buffer_.data(), sizeof frame);
  if (frame.magic != magic || frame.payload_bytes > most_bytes) co_return std::nullopt;
  buffer_ = budget_.allocate(blocks_for(frame.payload_bytes) * journal_block_bytes, "the header of the journal");
  const std::optional<Found> found = co_await read(0, Kind::header);
  if (!found) co_return std::nullopt;
  co_return decode_header(found->payload);
}

Task<std::optional<JournalContents>> Journal::open() {
  co_await reactor_.sync(file_);
  co_return co_await look();
}

Task<std::optional<JournalContents>> Journal::look() {
  const std::optional<JobHeader> header = co_await read_header();
  if (!header) co_return std::nullopt;
  set_geometry(*header);
  JournalContents contents{*header, {}, {}};
  if (more_runs_ > 0) runs_ = std::max(runs_, places_in_file());
  for (std::uint64_t run = 0; run < runs_; ++run) {
    const std::optional<Found> found = co_await read(run_block(run), Kind::run);
    if (!found) continue;
    // A record is durable before the next one is written, so that no crash leaves one that cannot be read before one that can.
    if (run != contents.runs.size())
      throw IoError(fmt::format("the journal '{}' is damaged at run {}", file_.path(), contents.runs.size()));
    contents.runs.push_back(decode_run(found->payload));
    if (found->sequence != 2 + run || contents.runs.back().run != run)
      throw IoError(fmt::format("the journal '{}' is damaged at run {}", file_.path(), run));
  }
  for (std::uint64_t place = 0; place < state_places; ++place) {
    const std::optional<Found> found = co_await read(state_block(place), Kind::state);
    if (!found || found->sequence < next_state_) continue;
    next_state_ = found->sequence + 1;
    contents.state = decode_state(found->payload);
  }
  const bool needs_all_runs = !header->lines && contents.state &&
                              (contents.state->kind == State::Kind::merging || contents.state->kind == State::Kind::merged);
  if (needs_all_runs && contents.runs.size() < runs_)
    throw IoError(fmt::format("the journal '{}' is damaged at run {}", file_.path(), contents.runs.size()));
  co_return contents;
}

}  // namespace ecosort::demsort_inplace
