#include "run/run_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"

namespace ecosort::lines {

RunFiles::RunFiles(io::Storage& storage, io::Reactor& reactor, std::vector<std::string> directories, std::size_t block_bytes,
                   std::string compress_program)
    : storage_(storage),
      reactor_(reactor),
      directories_(std::move(directories)),
      block_bytes_(block_bytes),
      compress_program_(std::move(compress_program)),
      job_(run::random_job()) {}

RunFiles::RunFiles(io::Storage& storage, io::Reactor& reactor, std::size_t block_bytes, std::uint64_t job)
    : storage_(storage), reactor_(reactor), block_bytes_(block_bytes), job_(job) {}

StoredRun RunFiles::adopt(io::FilePtr file, std::uint64_t number, std::uint64_t bytes) {
  StoredRun run;
  run.file = std::move(file);
  run.seed = run::run_seed(job_, number);
  run.bytes = bytes;
  run.is_kept = true;
  run.space = run.blocks(block_bytes_) * block_bytes_;
  return run;
}

StoredRun RunFiles::create_in(io::FilePtr file, std::uint64_t number, std::uint64_t bytes) {
  StoredRun run = adopt(std::move(file), number, bytes);
  take_space(run, std::exchange(run.space, 0));
  (void)storage_.reserve_patiently(*run.file, 0, run.space);
  return run;
}

StoredRun RunFiles::create(std::uint64_t bytes) {
  StoredRun run;
  if (!shares_) shares_.emplace(storage_, directories_);
  const std::string& directory = directories_[shares_->next(std::max<std::uint64_t>(bytes, 1))];
  run.seed = run::run_seed(job_, created_);
  run.bytes = bytes;
  run.is_compressed = !compress_program_.empty();
  ++created_;
  const io::Caching caching = run.is_compressed ? io::Caching::buffered : io::Caching::direct_if_possible;
  run.file = storage_.create_unnamed(directory, io::Role::run, caching);
  if (run.is_compressed) {
    start(run, RunProgram::Direction::compress);
  } else {
    take_space(run, run.blocks(block_bytes_) * block_bytes_);
    (void)storage_.reserve_patiently(*run.file, 0, run.space);
  }
  return run;
}

void RunFiles::start(StoredRun& run, RunProgram::Direction direction) {
  std::erase_if(programs_, [](const std::weak_ptr<RunProgram>& program) { return program.expired(); });
  run.program = std::make_shared<RunProgram>(compress_program_, direction, *run.file);
  programs_.emplace_back(run.program);
}

void RunFiles::terminate_programs() noexcept {
  for (const std::weak_ptr<RunProgram>& program : programs_)
    if (const std::shared_ptr<RunProgram> running = program.lock()) running->terminate();
}

void RunFiles::take_space(StoredRun& run, std::uint64_t space) {
  allocated_ = allocated_ - run.space + space;
  peak_ = std::max(peak_, allocated_);
  run.space = space;
}

Task<void> RunFiles::complete(StoredRun& run, std::uint64_t bytes) {
  run.bytes = bytes;
  if (run.is_compressed) {
    co_await run.program->finish(reactor_);
    run.program.reset();
    take_space(run, storage_.state(*run.file).size_bytes);
    co_return;
  }
  const std::uint64_t space = run.blocks(block_bytes_) * block_bytes_;
  if (space < run.space) storage_.set_size(*run.file, space);
  take_space(run, space);
}

void RunFiles::seal(const StoredRun& run, std::uint64_t block, std::byte* data, std::size_t size, run::BlockContents contents) {
  run::seal_block(data, size, run.seed + block, contents);
}

void RunFiles::check(const StoredRun& run, std::uint64_t block, const std::byte* data, std::size_t size) {
  if (run::is_intact(data, size, run.seed + block)) return;
  throw DamagedRun(fmt::format("a run in '{}' is damaged: block {} does not match its checksum (check the drive{})",
                               run.file->path(), block, run.is_compressed ? " and the compress program" : ""));
}

Task<void> RunFiles::read(StoredRun& run, std::uint64_t block, std::byte* data) {
  if (!run.is_compressed) {
    (void)co_await reactor_.read(*run.file, block * block_bytes_, data, block_bytes_, block_bytes_);
    co_return;
  }
  if (block == 0) start(run, RunProgram::Direction::decompress);
  co_await run.program->read(reactor_, data, block_bytes_);
  if (block + 1 < run.blocks(block_bytes_)) co_return;
  co_await run.program->finish(reactor_);
  run.program.reset();
  storage_.set_size(*run.file, 0);
  take_space(run, 0);
}

Task<run::BlockContents> RunFiles::read_checked(StoredRun& run, std::uint64_t block, std::byte* data) {
  co_await read(run, block, data);
  check(run, block, data, block_bytes_);
  co_return run::contents_of(data, block_bytes_);
}

// What a program has read of its input cannot be known to be of no more use to it.
Task<void> RunFiles::release(const StoredRun& run, std::uint64_t first, std::uint64_t last) {
  if (run.is_compressed || run.is_kept) co_return;
  (void)co_await reactor_.release(*run.file, first * block_bytes_, (last - first) * block_bytes_);
  allocated_ -= (last - first) * block_bytes_;
}

void RunFiles::forget(const StoredRun& run, std::uint64_t released_blocks) {
  allocated_ -= run.space - (run.is_compressed ? 0 : released_blocks * block_bytes_);
}

}  // namespace ecosort::lines
