#include "engine/rows/read_rows.h"

namespace ecosort::lines {
namespace {

Task<run::BlockContents> unpack(RowRuns& files, engine::Compute& compute, RowRun& run, std::uint64_t block, std::byte* data) {
  const run::StoredRun& stored = files.run(run.stored);
  run::BlockContents contents;
  auto work = compute.run([&] { contents = files.unpack(stored, block, data, data); }, files.block_bytes());
  co_await work;
  co_return contents;
}

}  // namespace

Task<run::BlockContents> read_rows(RowRuns& files, engine::Compute& compute, RowRun& run, std::uint64_t block, std::byte* data) {
  if (run.in_input) co_return co_await files.read_in_input(run, block, data);
  const run::BlockContents contents = co_await files.read_checked(run, block, data);
  if (!files.is_packed(files.run(run.stored), block)) co_return contents;
  co_return co_await unpack(files, compute, run, block, data);
}

Task<ReadRows> read_truncated_rows(RowRuns& files, engine::Compute& compute, RowRun& run, std::uint64_t block, std::byte* data) {
  if (run.in_input) co_return ReadRows{co_await files.read_in_input(run, block, data), {}};
  const run::BlockContents contents = co_await files.read_checked(run, block, data);
  const run::StoredRun& stored = files.run(run.stored);
  if (!files.is_packed(stored, block)) co_return ReadRows{contents, {}};
  if (const auto rows = run::truncated_rows(data, files.stored_bytes(stored, block), files.block_bytes()))
    co_return ReadRows{rows->contents, rows};
  co_return ReadRows{co_await unpack(files, compute, run, block, data), {}};
}

}  // namespace ecosort::lines
