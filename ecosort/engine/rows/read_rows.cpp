#include "engine/rows/read_rows.h"

namespace ecosort::engine::rows {

Task<run::BlockContents> read_rows(run::RowRuns& files, Compute& compute, run::RowRun& run, std::uint64_t block,
                                   std::byte* data) {
  if (run.in_input) co_return co_await files.read_in_input(run, block, data);
  run::BlockContents contents = co_await files.read_checked(run, block, data);
  const run::StoredRun& stored = files.run(run.stored);
  if (!files.is_packed(stored, block)) co_return contents;
  auto work = compute.run([&] { contents = files.unpack(stored, block, data, data); }, files.block_bytes());
  co_await work;
  co_return contents;
}

Task<run::RowsOfBlock> read_truncated_rows(run::RowRuns& files, Compute& compute, run::RowRun& run, std::uint64_t block,
                                           std::byte* data) {
  run::RowsOfBlock rows;
  if (run.in_input) {
    rows.contents = co_await files.read_in_input(run, block, data);
    co_return rows;
  }
  rows.contents = co_await files.read_checked(run, block, data);
  const run::StoredRun& stored = files.run(run.stored);
  if (!files.is_packed(stored, block)) co_return rows;
  rows.truncated = run::truncated_rows(data, files.stored_bytes(stored, block), files.block_bytes());
  if (rows.truncated) {
    rows.contents = rows.truncated->contents;
    co_return rows;
  }
  auto work = compute.run([&] { rows = files.unpack_rows(stored, block, data, data); }, files.block_bytes());
  co_await work;
  co_return rows;
}

}  // namespace ecosort::engine::rows
