#include "run/run_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/errors.h"
#include "base/open_files.h"
#include "run/block_places.h"

namespace ecosort::run {

namespace {

// A hole frees whole blocks of the file system; one that begins at its multiples also frees the block that the hole before cut.
constexpr std::uint64_t largest_file_system_block = std::uint64_t{64} * 1024;

}  // namespace

RunStore::RunStore(io::Storage& storage, io::Reactor& reactor, std::uint64_t block_bytes, Striping striping)
    : storage_(storage),
      reactor_(reactor),
      block_bytes_(block_bytes),
      striping_(std::move(striping)),
      kept_{.job = random_job()},
      release_done_(reactor.scope()) {}

RunStore::RunStore(io::Storage& storage, io::Reactor& reactor, std::uint64_t block_bytes, const KeptRuns& kept)
    : RunStore(storage, reactor, block_bytes, Striping({}, 0)) {
  kept_ = kept;
}

// Each takes its turn, so that a run is complete before the next one follows it.
std::shared_ptr<RunFiles> RunStore::files_to_share() {
  std::erase_if(unnamed_, [](const auto& files) { return files.expired(); });
  if (may_open_more() || unnamed_.empty()) return nullptr;
  std::rotate(unnamed_.begin(), unnamed_.begin() + 1, unnamed_.end());
  return unnamed_.back().lock();
}

bool RunStore::may_open_more() const noexcept { return open_files_ < open_files_share(); }

std::shared_ptr<RunFiles> RunStore::new_files(std::uint64_t bytes, io::Caching caching) {
  auto files = std::make_shared<RunFiles>();
  for (const std::string& directory : striping_.place(storage_, bytes))
    files->stripes.push_back(storage_.create_unnamed(directory, io::Role::run, caching));
  open_files_ += files->stripes.size();
  return files;
}

// Returns where the space of a run ends in each of its files.
std::uint64_t RunStore::end_of(const StoredRun& run, std::uint64_t bytes) const {
  std::uint64_t most = 0;
  for (std::uint32_t stripe = 0; stripe < run.stripes().size(); ++stripe)
    most = std::max(most, striping_.stripe_bytes(stripe, bytes));
  return run.begin + round_up(most, largest_file_system_block);
}

void RunStore::take_space(StoredRun& run, std::uint64_t bytes, std::uint64_t reserved_bytes) {
  run.begin = run.files->end;
  ++run.files->runs;
  run.files->end = run.end = end_of(run, bytes);
  for (std::uint32_t stripe = 0; stripe < run.stripes().size(); ++stripe)
    if (const std::uint64_t size = striping_.stripe_bytes(stripe, reserved_bytes); size > 0)
      (void)storage_.reserve_patiently(*run.stripes()[stripe], run.begin, size);
}

StoredRun RunStore::create_files(std::uint64_t bytes, std::uint64_t reserved_bytes) {
  StoredRun run;
  run.files = files_to_share();
  if (!run.files) {
    run.files = new_files(bytes, io::Caching::direct_if_possible);
    unnamed_.push_back(run.files);
  }
  take_space(run, bytes, reserved_bytes);
  return run;
}

std::size_t RunStore::create_run(std::uint64_t blocks) {
  const std::uint64_t bytes = blocks * block_bytes_;
  StoredRun run = create_files(bytes, bytes);
  run.blocks = blocks;
  return add(std::move(run), runs_.size(), 0, bytes);
}

std::size_t RunStore::create_packed_run(std::uint64_t blocks, std::uint64_t reserved_bytes) {
  StoredRun run = create_files(blocks * block_bytes_, reserved_bytes);
  run.is_packed = true;
  run.ends.reserve(blocks);
  run.blocks = blocks;
  return add(std::move(run), runs_.size(), 0, reserved_bytes);
}

void RunStore::make_packed(std::size_t number, std::uint64_t promised_bytes) {
  StoredRun& run = runs_[number];
  run.is_packed = true;
  run.ends.reserve(run.blocks);
  run.places_bytes = places_bytes(run.blocks);
  set_space(number, run.head_bytes + promised_bytes + run.places_bytes);
}

Task<void> RunStore::read_places(std::size_t number, std::uint64_t first_block, std::uint64_t stored_bytes) {
  StoredRun& run = runs_[number];
  const std::uint64_t blocks = first_block + run.blocks, size = places_bytes(blocks);
  MemoryBudget budget(size);
  const Buffer memory = budget.allocate(size, "the places of a run's blocks", Pages::small);
  (void)co_await reactor_.read(run.file(), kept_.head_bytes + stored_bytes, memory.data(), size, size);
  const std::vector<std::uint32_t> ends = places_of_run(run.file().path(), {memory.data(), size}, blocks, block_bytes_,
                                                        stored_bytes, run_seed(kept_.job, run.number));
  const std::uint32_t before = first_block == 0 ? 0 : ends[first_block - 1];
  run.is_packed = true;
  run.places_bytes = size;
  run.head_bytes = kept_.head_bytes + std::uint64_t{before} * page_bytes;
  run.ends.reserve(run.blocks);
  for (std::uint64_t block = first_block; block < blocks; ++block) run.ends.push_back(ends[block] - before);
  set_space(number, run.head_bytes + offset_of(run, run.blocks) + size);
}

// Beyond what was reserved the file grows.
void RunStore::append(std::size_t number, std::size_t stored_bytes, codec::BlockCodec codec) {
  StoredRun& run = runs_[number];
  const std::uint64_t begin = run.ends.empty() ? 0 : run.ends.back();
  run.ends.push_back(static_cast<std::uint32_t>(begin + stored_bytes / page_bytes));
  if (codec::takes_more(codec, run.codec)) run.codec = codec;
  set_space(number, std::max(run.space_bytes, run.head_bytes + std::uint64_t{run.ends.back()} * page_bytes + run.places_bytes));
}

std::size_t RunStore::create_compressed_run() {
  StoredRun run;
  run.files = new_files(0, io::Caching::buffered);
  ++run.files->runs;
  run.is_compressed = true;
  return add(std::move(run), runs_.size(), 0, 0);
}

std::size_t RunStore::adopt_run(io::FilePtr file, std::uint64_t identity, std::uint64_t blocks, std::uint64_t first_block) {
  StoredRun run;
  run.files = std::make_shared<RunFiles>();
  run.files->stripes.push_back(std::move(file));
  run.files->runs = 1;
  run.blocks = blocks;
  run.head_bytes = kept_.head_bytes + (kept_.direction == Direction::forward ? first_block * block_bytes_ : 0);
  return add(std::move(run), identity, first_block, kept_.head_bytes + blocks * block_bytes_);
}

Task<void> RunStore::write_described(std::size_t number, Description description) {
  const StoredRun& run = runs_[number];
  if (const std::uint64_t stored = packed_bytes(number); stored > 0) {
    description.codec = run.codec;
    description.stored_bytes = stored;
    co_await write_at(run.file(), run.head_bytes + stored, encode_places(run.ends, run.seed));
  }
  co_await write_at(run.file(), 0, encode(description));
}

// Whole pages of a run's file besides its blocks.
Task<void> RunStore::write_at(const io::File& file, std::uint64_t offset, std::vector<std::byte> bytes) {
  MemoryBudget budget(bytes.size());
  const Buffer memory = budget.allocate(bytes.size(), "what a run says of itself", Pages::small);
  std::ranges::copy(bytes, memory.data());
  co_await reactor_.write(file, offset, memory.data(), bytes.size());
}

std::size_t RunStore::add(StoredRun run, std::uint64_t identity, std::uint64_t first_block, std::uint64_t space_bytes) {
  const std::size_t number = runs_.size();
  run.number = identity;
  run.seed = run_seed(kept_.job, identity) + first_block;
  runs_.push_back(std::move(run));
  set_space(number, space_bytes);
  return number;
}

void RunStore::set_space(std::size_t number, std::uint64_t bytes) {
  allocated_bytes_ = allocated_bytes_ - std::exchange(runs_[number].space_bytes, bytes) + bytes;
  peak_bytes_ = std::max(peak_bytes_, allocated_bytes_);
}

void RunStore::shorten(std::size_t number, std::uint64_t blocks) {
  StoredRun& run = runs_[number];
  const std::uint64_t bytes = offset_of(run, blocks);
  const bool is_cut = blocks < run.blocks || run.is_packed;
  run.blocks = blocks;
  if (run.places_bytes > 0) run.places_bytes = bytes == blocks * block_bytes_ ? 0 : places_bytes(blocks);
  set_end(run, bytes, is_cut);
  set_space(number, run.head_bytes + bytes + run.places_bytes);
}

// The space between two runs stays, where another one follows, until that is closed, too.
void RunStore::set_end(StoredRun& run, std::uint64_t bytes, bool is_cut) {
  if (run.end < run.files->end) return;
  for (std::uint32_t stripe = 0; is_cut && stripe < run.stripes().size(); ++stripe)
    storage_.set_size(*run.stripes()[stripe], front_of(run) + striping_.stripe_bytes(stripe, bytes) + run.places_bytes);
  run.files->end = run.end = end_of(run, bytes);
}

std::uint64_t RunStore::place_of(const StoredRun& run, std::uint64_t first_block, std::uint64_t size) const noexcept {
  if (kept_.direction == Direction::forward) return front_of(run) + offset_of(run, first_block);
  return front_of(run) + (run.blocks - first_block) * block_bytes_ - size;
}

// One after the other; zeros for what cannot be read.
Task<void> RunStore::read_pages(const io::File& file, Striping::Piece piece, std::byte* data) {
  const std::uint64_t unit = std::max<std::uint64_t>(file.alignment(), page_bytes);
  for (std::uint64_t done = 0; done < piece.size; done += unit) {
    const std::uint64_t size = std::min(unit, piece.size - done);
    try {
      (void)co_await reactor_.read(file, piece.offset + done, data + done, size, size);
    } catch (const IoError&) {
      std::memset(data + done, 0, size);
      unreadable_bytes_ += size;
    }
  }
}

Task<void> RunStore::move_piece(io::Operation operation, const StoredRun& run, Striping::Piece piece, std::byte* data) {
  const io::File& file = *run.stripes()[piece.stripe];
  if (operation == io::Operation::write)
    co_await reactor_.write(file, piece.offset, data, piece.size);
  else if (is_taken_as_it_is_)
    co_await read_pages(file, piece, data);
  else
    (void)co_await reactor_.read(file, piece.offset, data, piece.size, piece.size);
}

Task<void> RunStore::move_pieces(io::Operation operation, const StoredRun& run, std::uint64_t offset, std::byte* data,
                                 std::uint64_t size) {
  TaskGroup pieces(reactor_.scope());
  for (std::uint64_t done = 0; done < size;) {
    const Striping::Piece piece = striping_.locate(offset + done, size - done);
    pieces.spawn(move_piece(operation, run, piece, data + done));
    done += piece.size;
  }
  co_await pieces.join();
}

Task<void> RunStore::move(io::Operation operation, std::size_t number, std::uint64_t first_block, std::byte* data,
                          std::uint64_t size) {
  const StoredRun& run = runs_[number];
  const std::uint64_t offset = place_of(run, first_block, size);
  const Striping::Piece first = striping_.locate(offset, size);
  return first.size == size ? move_piece(operation, run, first, data) : move_pieces(operation, run, offset, data, size);
}

Task<void> RunStore::write(std::size_t number, std::uint64_t first_block, std::byte* data, std::size_t size) {
  return move(io::Operation::write, number, first_block, data, size);
}

Task<void> RunStore::read(std::size_t number, std::uint64_t first_block, std::byte* data, std::size_t size) {
  return move(io::Operation::read, number, first_block, data, size);
}

std::uint64_t RunStore::waiting_bytes(std::size_t number, std::uint64_t until) const {
  const StoredRun& run = runs_[number];
  return until > run.released_until ? offset_of(run, until) - offset_of(run, run.released_until) : 0;
}

Task<void> RunStore::release(std::size_t number, std::uint64_t first, std::uint64_t until) {
  StoredRun& run = runs_[number];
  const std::uint64_t begin = offset_of(run, first), end = offset_of(run, until);
  const bool from_begin = first == run.released_until;
  if (from_begin) run.released_until = until;
  run.released_blocks += until - first;
  if (run.released_blocks < run.blocks || run.files->runs > 1) {
    ++run.releases;
    ++releasing_;
    co_await punch(run, begin, end, from_begin ? largest_file_system_block : 1);
    --releasing_;
    --run.releases;
    set_space(number, run.space_bytes - (end - begin));
  }
  if (run.released_blocks == run.blocks && run.releases == 0) close(number);  // that gives back all of an unnamed file
  release_done_.notify();
}

// Bytes [from, end) of the run: contiguous in every stripe. From a multiple of the alignment on: nothing before is needed. What
// lies in one block of the file system with what is needed is given back with what follows.
Task<void> RunStore::punch(const StoredRun& run, std::uint64_t from, std::uint64_t end, std::uint64_t alignment) {
  TaskGroup punches(reactor_.scope());
  for (std::uint32_t stripe = 0; stripe < run.stripes().size(); ++stripe) {
    const std::uint64_t at = striping_.stripe_bytes(stripe, from), stripe_end = striping_.stripe_bytes(stripe, end);
    const std::uint64_t file_begin = std::max(front_of(run), round_down(front_of(run) + at, alignment));
    const std::uint64_t file_end = round_down(front_of(run) + stripe_end, kept_.unit);
    if (at < stripe_end && file_begin < file_end) punches.spawn(punch_stripe(*run.stripes()[stripe], file_begin, file_end));
  }
  co_await punches.join();
}

Task<void> RunStore::punch_stripe(const io::File& file, std::uint64_t from, std::uint64_t end) {
  (void)co_await reactor_.release(file, from, end - from);
}

Task<void> RunStore::released() {
  while (releasing_ > 0) co_await release_done_.changed();
}

LentRun RunStore::lend(std::size_t number) {
  StoredRun& run = runs_[number];
  if (run.files->runs > 1) throw InternalError("a run is lent whose file holds others, too");
  Description description;
  description.head_bytes = front_of(run);
  description.block_bytes = block_bytes_;
  description.job = kept_.job;
  description.run = run.number;
  description.codec = run.codec;
  if (run.is_packed) description.stored_bytes = offset_of(run, run.blocks);
  description.ends = std::exchange(run.ends, {});
  return {std::move(run.files->stripes.front()), std::move(description)};
}

void RunStore::take_back(std::size_t number, LentRun lent) {
  StoredRun& run = runs_[number];
  run.files->stripes.front() = std::move(lent.file);
  run.ends = std::move(lent.description.ends);
}

void RunStore::close(std::size_t number) {
  StoredRun& run = runs_[number];
  if (const auto files = std::exchange(run.files, nullptr); files && --files->runs == 0) close(*files);
  set_space(number, 0);
  closed(number);
}

void RunStore::close(RunFiles& files) {
  open_files_ -= std::min(open_files_, files.stripes.size());  // those of a job have names
  for (io::FilePtr& file : files.stripes) storage_.close(std::move(file));
}

void RunStore::seal(const StoredRun& run, std::uint64_t block, std::byte* data, BlockContents contents) const noexcept {
  seal_block(data, block_bytes_, run.seed + block, contents);
}

void RunStore::check(const StoredRun& run, std::uint64_t block, const std::byte* data) const {
  if (!is_taken_as_it_is_ && !is_intact(data, stored_bytes(run, block), run.seed + block)) damaged(run, block);
}

void RunStore::damaged(const StoredRun& run, std::uint64_t block) const {
  const Striping::Piece piece = striping_.locate(place_of(run, block, stored_bytes(run, block)), 1);
  throw DamagedRun(fmt::format("run {} in '{}' is damaged at byte {}: what was read is not what was written (check the drive{})",
                               run.number, std::filesystem::path(run.stripes()[piece.stripe]->path()).parent_path().string(),
                               piece.offset, run.is_compressed ? ", the memory and the compress program" : " and the memory"));
}

}  // namespace ecosort::run
