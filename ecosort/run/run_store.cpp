#include "run/run_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"
#include "base/size_text.h"
#include "run/drive_shares.h"
#include "run/run_block.h"

namespace ecosort::engine {

namespace {

constexpr std::size_t pattern_units = 64;
// A hole frees whole blocks of the file system; one that begins at its multiples also frees the block that the hole before cut.
constexpr std::uint64_t largest_file_system_block = std::uint64_t{64} * 1024;

}  // namespace

RunStore::RunStore(io::Storage& storage, io::Reactor& reactor, const planner::Plan& plan, std::vector<std::string> directories)
    : storage_(storage),
      reactor_(reactor),
      run_block_(plan.run_block),
      record_size_(plan.wanted.format.record_size),
      stride_(plan.forecast_stride),
      stride_is_fixed_(!plan.wanted.size_unknown),
      forecast_limit_(plan.forecast_bytes / planner::forecast_entry_bytes / 2),
      most_stride_(plan.most_forecast_stride),
      memory_bytes_(plan.wanted.memory_bytes),
      unit_bytes_(std::max<std::uint64_t>(plan.formation.write_block_bytes, run_block_.bytes)),
      job_(run::random_job()),
      directories_(std::move(directories)),
      release_done_(reactor.scope()) {
  choose_pattern();
}

RunStore::RunStore(io::Storage& storage, io::Reactor& reactor, const planner::Plan& plan, std::string directory,
                   RunDirection direction, std::uint64_t job)
    : RunStore(storage, reactor, plan, std::vector<std::string>{std::move(directory)}) {
  direction_ = direction;
  job_ = job;
}

// Directories get units in proportion to their free space, spread evenly (largest remaining share first).
void RunStore::choose_pattern() {
  DriveShares shares(storage_, directories_);
  const std::size_t units = directories_.size() == 1 ? 1 : std::max<std::size_t>(pattern_units, directories_.size());
  std::vector<std::uint64_t> given(directories_.size(), 0);
  pattern_rank_.assign(directories_.size(), {});
  for (std::size_t unit = 0; unit < units; ++unit) {
    const std::size_t best = shares.next();
    for (std::size_t d = 0; d < directories_.size(); ++d) pattern_rank_[d].push_back(static_cast<std::uint32_t>(given[d]));
    pattern_.push_back(static_cast<std::uint8_t>(best));
    ++given[best];
  }
  for (std::size_t d = 0; d < directories_.size(); ++d) pattern_rank_[d].push_back(static_cast<std::uint32_t>(given[d]));
}

RunStore::Piece RunStore::locate(std::uint64_t offset, std::uint64_t size) const {
  if (pattern_.size() == 1) return {0, offset, size};
  const std::uint64_t unit = offset / unit_bytes_;
  const std::uint64_t within = offset % unit_bytes_;
  const std::size_t position = unit % pattern_.size();
  const std::uint32_t stripe = pattern_[position];
  const std::uint64_t unit_in_stripe = unit / pattern_.size() * pattern_rank_[stripe].back() + pattern_rank_[stripe][position];
  return {stripe, unit_in_stripe * unit_bytes_ + within, std::min(size, unit_bytes_ - within)};
}

std::uint64_t RunStore::stripe_size(std::uint32_t stripe, std::uint64_t run_bytes) const {
  if (pattern_.size() == 1) return run_bytes;
  const std::uint64_t units = run_bytes / unit_bytes_, rest = run_bytes % unit_bytes_;
  std::uint64_t bytes =
      (units / pattern_.size() * pattern_rank_[stripe].back() + pattern_rank_[stripe][units % pattern_.size()]) * unit_bytes_;
  if (rest > 0 && pattern_[units % pattern_.size()] == stripe) bytes += rest;
  return bytes;
}

std::size_t RunStore::create(std::uint64_t records) {
  const std::size_t number = runs_.size();
  StoredRun run;
  run.seed = run::run_seed(job_, number);
  run.records = records;
  run.run_blocks = div_up(records, run_block_.records);
  const std::uint64_t bytes = run.run_blocks * run_block_.bytes;
  for (std::uint32_t d = 0; d < directories_.size(); ++d) {
    run.stripes.push_back(storage_.create_unnamed(directories_[d], io::Role::run, io::Caching::direct_if_possible));
    if (const std::uint64_t size = stripe_size(d, bytes); size > 0)
      (void)storage_.reserve_patiently(*run.stripes.back(), 0, size);
  }
  make_forecast(run);
  allocated_bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, allocated_bytes_);
  runs_.push_back(std::move(run));
  return number;
}

std::size_t RunStore::adopt(io::FilePtr file, std::uint64_t identity, std::uint64_t records, std::uint64_t first_run_block) {
  StoredRun run;
  run.seed = run::run_seed(job_, identity);
  run.records = records;
  run.run_blocks = div_up(records, run_block_.records);
  run.first_run_block = first_run_block;
  run.stripes.push_back(std::move(file));
  make_forecast(run);
  allocated_bytes_ += run.run_blocks * run_block_.bytes;
  peak_bytes_ = std::max(peak_bytes_, allocated_bytes_);
  runs_.push_back(std::move(run));
  return runs_.size() - 1;
}

void RunStore::make_forecast(StoredRun& run) {
  while (!stride_is_fixed_ && forecast_entries_ + div_up(run.run_blocks, stride_) > forecast_limit_) thin_forecast();
  run.forecast.resize(div_up(run.run_blocks, stride_));
  forecast_entries_ += run.forecast.size();
}

Task<void> RunStore::read_forecast(std::size_t number, const records::Encoder& encoder, std::byte* memory) {
  move_forecast(encoder, shared_key_.take_in_unknown());
  for (std::uint64_t run_block = 0; run_block < runs_[number].run_blocks; run_block += stride_) {
    co_await read(number, run_block, memory, run_block_.bytes);
    verify(number, run_block, memory);
    set_forecast(number, run_block, encoder, memory);
  }
}

void RunStore::take_in_keys(const records::Encoder& encoder, std::span<const std::byte* const> sample) {
  move_forecast(encoder, shared_key_.take_in(encoder, sample));
}

// The keys were made at `depth`.
void RunStore::move_forecast(const records::Encoder& encoder, std::uint64_t depth) {
  if (depth == shared_key_.depth()) return;
  for (StoredRun& run : runs_)
    for (ForecastKey& key : run.forecast) key = shared_key_.moved(encoder, key, depth);
}

void RunStore::set_forecast(std::size_t number, std::uint64_t run_block, const records::Encoder& encoder,
                            const std::byte* first) {
  if (run_block % stride_ == 0) runs_[number].forecast[run_block / stride_] = shared_key_.key_of(encoder, first);
}

// While the input's size is unknown: twice as many run blocks per entry, so that the table keeps its size. UsageError where the
// merge could not do with so few, at once: its runs would be of no use.
void RunStore::thin_forecast() {
  if (stride_ >= most_stride_)
    throw NotEnoughMemory(fmt::format("the input is too long for {} of memory: its {} runs are all that can be merged",
                                      format_bytes(memory_bytes_), runs_.size()),
                          memory_bytes_, 8 * memory_bytes_);
  stride_ *= 2;
  forecast_entries_ = 0;
  for (StoredRun& run : runs_) {
    std::vector<ForecastKey> thinned;
    thinned.reserve(run.forecast.size() / 2 + 1);
    for (std::size_t i = 0; i < run.forecast.size(); i += 2) thinned.push_back(run.forecast[i]);
    run.forecast.swap(thinned);
    forecast_entries_ += run.forecast.size();
  }
}

Task<void> RunStore::move_piece(io::Operation operation, std::size_t number, Piece piece, std::byte* data) {
  const io::File& file = *runs_[number].stripes[piece.stripe];
  if (operation == io::Operation::write)
    co_await reactor_.write(file, piece.offset, data, piece.size);
  else
    (void)co_await reactor_.read(file, piece.offset, data, piece.size, piece.size);
}

Task<void> RunStore::move(io::Operation operation, std::size_t number, std::uint64_t offset, std::byte* data,
                          std::uint64_t size) {
  const Piece first = locate(offset, size);
  if (first.size == size) {
    co_await move_piece(operation, number, first, data);
    co_return;
  }
  TaskGroup pieces(reactor_.scope());
  for (std::uint64_t done = 0; done < size;) {
    const Piece piece = locate(offset + done, size - done);
    pieces.spawn(move_piece(operation, number, piece, data + done));
    done += piece.size;
  }
  co_await pieces.join();
}

Task<void> RunStore::write(std::size_t number, std::uint64_t first_run_block, std::byte* data, std::size_t size) {
  return move(io::Operation::write, number, place_of(number, first_run_block, size), data, size);
}

Task<void> RunStore::read(std::size_t number, std::uint64_t first_run_block, std::byte* data, std::size_t size) {
  return move(io::Operation::read, number, place_of(number, first_run_block, size), data, size);
}

std::uint64_t RunStore::waiting_bytes(std::size_t number, std::uint64_t until) const {
  const std::uint64_t end = until * run_block_.bytes, released = runs_[number].released_bytes;
  return end > released ? end - released : 0;
}

Task<void> RunStore::release(std::size_t number, std::uint64_t until) {
  StoredRun& run = runs_[number];
  const std::uint64_t end = until * run_block_.bytes;
  const std::uint64_t from = std::exchange(run.released_bytes, end);
  if (until == run.run_blocks) {
    run.consumed = true;  // closing an unnamed file gives back all of it
  } else {
    ++run.releases;
    ++releasing_;
    co_await punch(number, from, end);
    --releasing_;
    --runs_[number].releases;
  }
  allocated_bytes_ -= end - from;
  if (runs_[number].consumed && runs_[number].releases == 0) close_consumed(number);
  release_done_.notify();
}

// Bytes [from, end) of the run: contiguous in every stripe.
Task<void> RunStore::punch(std::size_t number, std::uint64_t from, std::uint64_t end) {
  TaskGroup punches(reactor_.scope());
  for (std::uint32_t stripe = 0; stripe < directories_.size(); ++stripe)
    punches.spawn(punch_stripe(*runs_[number].stripes[stripe], stripe_size(stripe, from), stripe_size(stripe, end)));
  co_await punches.join();
}

Task<void> RunStore::punch_stripe(const io::File& file, std::uint64_t from, std::uint64_t end) {
  if (from == end) co_return;
  const std::uint64_t at = round_down(from, largest_file_system_block);
  (void)co_await reactor_.release(file, at, end - at);
}

Task<void> RunStore::released() {
  while (releasing_ > 0) co_await release_done_.changed();
}

void RunStore::close_consumed(std::size_t number) {
  StoredRun& run = runs_[number];
  for (io::FilePtr& file : run.stripes) storage_.close(std::move(file));
  run.stripes.clear();
  forecast_entries_ -= run.forecast.size();
  std::vector<ForecastKey>().swap(run.forecast);
}

void RunStore::seal(std::size_t number, std::uint64_t run_block, std::uint32_t records, std::byte* data) const {
  run::seal_block(data, run_block_.bytes, seed_of(number, run_block), {.used_bytes = records * record_size_});
}

void RunStore::verify(std::size_t number, std::uint64_t run_block, const std::byte* data) const {
  if (run::is_intact(data, run_block_.bytes, seed_of(number, run_block))) return;
  const Piece piece = locate(place_of(number, run_block, run_block_.bytes), run_block_.bytes);
  throw DamagedRun(
      fmt::format("run {} in '{}' is damaged at byte {}: what was read is not what was written (check the drive and the memory)",
                  number, directories_[piece.stripe], piece.offset));
}

}  // namespace ecosort::engine
