#include "run/row_runs.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ecosort::run {

RowRuns::RowRuns(io::Storage& storage, io::Reactor& reactor, std::vector<std::string> directories, std::size_t block_bytes,
                 std::string compress_program, RunPacker* packer)
    : PackedRuns(storage, reactor, block_bytes, Striping(std::move(directories), 0), packer),
      compress_program_(std::move(compress_program)),
      keeps_runs_(false) {}

RowRuns::RowRuns(io::Storage& storage, io::Reactor& reactor, std::size_t block_bytes, const KeptRuns& kept, RunPacker* packer)
    : PackedRuns(storage, reactor, block_bytes, kept, packer), keeps_runs_(true) {}

RowRun RowRuns::create(std::uint64_t bytes) {
  RowRun run{.bytes = bytes, .is_compressed = !compress_program_.empty() && may_open_more()};
  const std::uint64_t blocks = run.blocks(block_bytes());
  if (run.is_compressed) {
    run.stored = create_compressed_run();
    start(run, RunProgram::Direction::compress);
  } else {
    run.stored = create_perhaps_packed(blocks);
  }
  return run;
}

RowRun RowRuns::create_in(io::FilePtr file, std::uint64_t number, std::uint64_t bytes, std::uint64_t other_places) {
  RowRun run{.bytes = bytes};
  run.stored = adopt_run(std::move(file), number, run.blocks(block_bytes()), 0);
  pack_where_possible(run.stored, other_places);
  reserve_promised(run.stored);
  return run;
}

RowRun RowRuns::create_plain_in(io::FilePtr file, std::uint64_t number, std::uint64_t bytes) {
  RowRun run{.bytes = bytes};
  run.stored = adopt_run(std::move(file), number, run.blocks(block_bytes()), 0);
  reserve_promised(run.stored);
  return run;
}

Task<void> RowRuns::adopt(RowRun& run, io::FilePtr file, std::uint64_t number, std::uint64_t packed_bytes) {
  run.stored = adopt_run(std::move(file), number, run.blocks(block_bytes()), 0);
  if (packed_bytes > 0) co_await find_packed(run.stored, 0, packed_bytes);
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
    complete_run(run.stored, run.blocks(block_bytes()));
    co_return;
  }
  co_await run.program->finish(reactor());
  run.program.reset();
  set_space(run.stored, storage().state(this->run(run.stored).file()).size_bytes);
}

Task<void> RowRuns::write_block(const RowRun& run, std::uint64_t block, std::byte* data) {
  if (run.is_compressed) return run.program->write(reactor(), data, block_bytes());
  return write_appended(run.stored, block, data, stored_bytes(this->run(run.stored), block));
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

Task<BlockContents> RowRuns::read_checked(RowRun& run, std::uint64_t block, std::byte* data) {
  if (run.is_compressed)
    co_await read_compressed(run, block, data);
  else
    co_await read(run.stored, block, data, stored_bytes(this->run(run.stored), block));
  check(this->run(run.stored), block, data);
  co_return is_packed(this->run(run.stored), block) ? BlockContents{} : contents_of(data, block_bytes());
}

Task<BlockContents> RowRuns::read_in_input(const RowRun& run, std::uint64_t block, std::byte* data) {
  const RowsInInput& rows = *run.in_input;
  const std::uint64_t before = block * block_bytes(), at = rows.begin - rows.lead() + before, file_end = rows.begin + rows.bytes;
  const std::size_t used = std::min<std::uint64_t>(block_bytes(), run.end() - before);
  const std::size_t in_file = file_end - std::min(at, file_end), size = std::min(used, in_file);
  if (size > 0) (void)co_await reactor().read(*rows.file, at, data, round_up(size, page_bytes), size);
  if (size < used) std::memcpy(data + size, rows.missing_end.data() + (at + size - file_end), used - size);
  if (block == 0) co_return BlockContents{static_cast<std::uint32_t>(used), static_cast<std::uint32_t>(rows.lead())};
  // A row that begins with the block counts as one that began before: no one needs to know it better.
  const void* const end = std::memchr(data, rows.terminator, used);
  const std::size_t carried = end == nullptr ? used : static_cast<std::size_t>(static_cast<const std::byte*>(end) - data) + 1;
  co_return BlockContents{static_cast<std::uint32_t>(used), static_cast<std::uint32_t>(carried)};
}

// Keeps what a program may still read: what it has read of its input cannot be known to be of no more use to it.
Task<void> RowRuns::give_back(const RowRun& run, std::uint64_t first, std::uint64_t until) {
  if (run.in_input || run.is_compressed || keeps_runs_) co_return;
  co_await release(run.stored, first, until);
}

}  // namespace ecosort::run
