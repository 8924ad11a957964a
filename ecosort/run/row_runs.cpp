#include "run/row_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"

namespace ecosort::lines {

namespace {

// Less space was reserved than the run may take, and the rest is not there.
[[noreturn]] void throw_beyond_promise(const IoError& error) {
  if (!io::is_full(error.error_number())) throw;
  throw IoError(
      fmt::format("{}: runs shrink less than was assumed; assume a smaller ratio, or give more temporary space", error.what()),
      error.error_number());
}

}  // namespace

RowRuns::RowRuns(io::Storage& storage, io::Reactor& reactor, std::vector<std::string> directories, std::size_t block_bytes,
                 std::string compress_program, run::RunPacker* packer)
    : RunStore(storage, reactor, block_bytes, run::Striping(std::move(directories), 0)),
      compress_program_(std::move(compress_program)),
      packer_(packer),
      keeps_runs_(false) {}

RowRuns::RowRuns(io::Storage& storage, io::Reactor& reactor, std::size_t block_bytes, const run::KeptRuns& kept)
    : RunStore(storage, reactor, block_bytes, kept), keeps_runs_(true) {}

RowRun RowRuns::create(std::uint64_t bytes) {
  RowRun run{.bytes = bytes, .is_compressed = !compress_program_.empty()};
  const std::uint64_t blocks = run.blocks(block_bytes());
  if (run.is_compressed) {
    run.stored = create_compressed_run();
    start(run, RunProgram::Direction::compress);
  } else if (packer_ != nullptr && has_room_for_places(blocks)) {
    run.stored = reserve_packed_run(blocks);
    places_ += this->run(run.stored).ends.capacity();
    peak_places_ = std::max(peak_places_, places_);
  } else {
    run.stored = create_run(blocks);
  }
  return run;
}

std::size_t RowRuns::reserve_packed_run(std::uint64_t blocks) {
  try {
    return create_packed_run(blocks, packer_->plan().space_of(blocks * block_bytes()));
  } catch (const IoError& error) {
    if (!assumes_ratio()) throw;
    throw_beyond_promise(error);
  }
}

bool RowRuns::has_room_for_places(std::uint64_t blocks) const noexcept {
  const bool are_countable = blocks * (block_bytes() / page_bytes) <= UINT32_MAX;
  return are_countable && (places_ + blocks) * sizeof(std::uint32_t) <= packer_->plan().index_bytes;
}

void RowRuns::closed(std::size_t number) {
  if (!run(number).is_packed) return;
  places_ -= run(number).ends.capacity();
  forget_places(number);
}

void RowRuns::append_packed(const RowRun& run, std::size_t plain_bytes, std::size_t stored_bytes) {
  append(run.stored, stored_bytes);
  packer_->account(plain_bytes, stored_bytes, stored_bytes < block_bytes());
}

bool RowRuns::is_packed(const RowRun& run, std::uint64_t block) const {
  const run::StoredRun& stored = this->run(run.stored);
  return stored.is_packed && stored_bytes(stored, block) < block_bytes();
}

run::BlockContents RowRuns::unpack(const run::StoredRun& run, std::uint64_t block, std::byte* data) const {
  const std::optional<run::BlockContents> contents = packer_->unpack(data, stored_bytes(run, block));
  if (!contents) damaged(run, block);
  return *contents;
}

RowRun RowRuns::create_in(io::FilePtr file, std::uint64_t number, std::uint64_t bytes) {
  RowRun run{.bytes = bytes};
  (void)storage().reserve_patiently(*file, 0, head_bytes() + run.blocks(block_bytes()) * block_bytes());
  adopt(run, std::move(file), number);
  return run;
}

void RowRuns::adopt(RowRun& run, io::FilePtr file, std::uint64_t number) {
  run.stored = adopt_run(std::move(file), number, run.blocks(block_bytes()), 0);
}

void RowRuns::start(RowRun& run, RunProgram::Direction direction) {
  std::erase_if(programs_, [](const std::weak_ptr<RunProgram>& program) { return program.expired(); });
  run.program = std::make_shared<RunProgram>(compress_program_, direction, this->run(run.stored).file());
  programs_.emplace_back(run.program);
}

void RowRuns::terminate_programs() noexcept {
  for (const std::weak_ptr<RunProgram>& program : programs_)
    if (const std::shared_ptr<RunProgram> running = program.lock()) running->terminate();
}

Task<void> RowRuns::complete(RowRun& run, std::uint64_t bytes) {
  run.bytes = bytes;
  if (!run.is_compressed) {
    shorten(run.stored, run.blocks(block_bytes()));
    co_return;
  }
  co_await run.program->finish(reactor());
  run.program.reset();
  set_space(run.stored, storage().state(this->run(run.stored).file()).size_bytes);
}

Task<void> RowRuns::write_block(const RowRun& run, std::uint64_t block, std::byte* data) {
  if (run.is_compressed) return run.program->write(reactor(), data, block_bytes());
  if (assumes_ratio()) return write_beyond_promise(run, block, data);
  return write(run.stored, block, data, stored_bytes(this->run(run.stored), block));
}

Task<void> RowRuns::write_beyond_promise(const RowRun& run, std::uint64_t block, std::byte* data) {
  try {
    co_await write(run.stored, block, data, stored_bytes(this->run(run.stored), block));
  } catch (const IoError& error) {
    throw_beyond_promise(error);
  }
}

Task<void> RowRuns::read_compressed(RowRun& run, std::uint64_t block, std::byte* data) {
  if (block == 0) start(run, RunProgram::Direction::decompress);
  co_await run.program->read(reactor(), data, block_bytes());
  if (block + 1 < run.blocks(block_bytes())) co_return;
  co_await run.program->finish(reactor());
  run.program.reset();
  storage().set_size(this->run(run.stored).file(), 0);
  set_space(run.stored, 0);
}

Task<run::BlockContents> RowRuns::read_checked(RowRun& run, std::uint64_t block, std::byte* data) {
  if (run.is_compressed)
    co_await read_compressed(run, block, data);
  else
    co_await read(run.stored, block, data, stored_bytes(this->run(run.stored), block));
  check(this->run(run.stored), block, data);
  co_return is_packed(run, block) ? run::BlockContents{} : run::contents_of(data, block_bytes());
}

// What a program has read of its input cannot be known to be of no more use to it.
Task<void> RowRuns::give_back(const RowRun& run, std::uint64_t first, std::uint64_t until) {
  if (run.is_compressed || keeps_runs_) co_return;
  co_await release(run.stored, first, until);
}

}  // namespace ecosort::lines
