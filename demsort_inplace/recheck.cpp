#include "demsort_inplace/recheck.h"

#include <fmt/format.h>

#include <vector>

#include "base/errors.h"
#include "engine/fixed/reread.h"

namespace ecosort::demsort_inplace {

namespace {

bool is_sorted(State::Kind kind) { return kind == State::Kind::merging || kind == State::Kind::merged; }

// The records at the end whose last bytes only the journal holds.
Task<hash::MultisetHash> hash_of_tail(Workbench& bench, const io::File& result, std::uint64_t first) {
  const Layout& layout = bench.layout;
  const std::uint64_t begin = first * layout.record_size,
                      end = round_down(bench.state->records * layout.record_size, layout.unit);
  std::vector<std::byte> bytes;
  if (begin < end) bytes = co_await read_bytes(bench, result, begin, end);
  bytes.insert(bytes.end(), bench.state->tail.begin(), bench.state->tail.end());
  hash::MultisetHash hash;
  hash.add_records(bytes.data(), bytes.size() / layout.record_size, layout.record_size);
  co_return hash;
}

// Returns what the hash of the last state is of.
engine::fixed::RecordRange hashed_records(const Workbench& bench, bool into_input) {
  if (!bench.state) return {};
  return {into_input ? bench.layout.records_left(bench.done.size()) : 0, bench.state->records};
}

// Returns those of these records that the file has as a whole.
engine::fixed::RecordRange records_in_file(const Workbench& bench, bool into_input) {
  engine::fixed::RecordRange range = hashed_records(bench, into_input);
  const std::uint64_t size = bench.layout.record_size;
  if (range.begin < range.end && !bench.state->tail.empty()) range.end = round_down(range.end * size, bench.layout.unit) / size;
  return range;
}

}  // namespace

void refuse_output(const JobBench& bench, const io::File& result, const OutputDifference& difference) {
  const auto& [found, expected, items, disorder] = difference;
  const std::string what = found == expected ? disorder
                                             : fmt::format("{} {} have hash {}, the journal says {} with hash {}", found.count,
                                                           items, found.to_hex(), expected.count, expected.to_hex());
  const bool is_in_place = bench.header.is_in_place();
  throw OutputChanged(fmt::format(
      "'{}' is not what was written to it ({}); nothing more was given up; check the drive, then {}", result.path(), what,
      is_in_place
          ? fmt::format("put back a copy of it, or continue with it as it is: ecosort resume --trust-drive {}", bench.paths.file)
          : fmt::format("start again after: ecosort resume --abandon {}", bench.paths.file)));
}

std::uint64_t recheck_bytes(const Workbench& bench, bool into_input) {
  const engine::fixed::RecordRange range = records_in_file(bench, into_input);
  return bench.trusts_drive ? 0 : (range.end - range.begin) * bench.layout.record_size;
}

Task<void> recheck(Workbench& bench, const io::File& result, bool into_input) {
  const engine::fixed::RecordRange all = hashed_records(bench, into_input), range = records_in_file(bench, into_input);
  bench.report.resumed = {all.end - all.begin, !bench.trusts_drive};
  if (bench.trusts_drive || all.begin == all.end) co_return;
  engine::fixed::Reread rereader(bench, bench.encoder, result, range, bench.plan.formation.read_block_bytes);
  rereader.stop_for(bench.interrupted);
  co_await rereader.run();
  hash::MultisetHash found = rereader.tally().hash;
  if (range.end < all.end) found += co_await hash_of_tail(bench, result, range.end);
  if (found != bench.state->hash || (is_sorted(bench.state->kind) && !rereader.in_order()))
    refuse_output(bench, result, {found, bench.state->hash, "records", "its records are not in order"});
}

}  // namespace ecosort::demsort_inplace
