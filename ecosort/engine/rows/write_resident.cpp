#include "engine/rows/write_resident.h"

#include <algorithm>
#include <string>

#include "base/errors.h"
#include "engine/rows/gather_groups.h"
#include "formats/lines/gather_lines.h"

namespace ecosort::engine::rows {

Task<void> WriteResident::write() {
  lines::LineRun& run = *former_.resident();
  written_.dropped += co_await former_.sort(run);
  if (job_.groups.is_decided_at_end())
    co_await write_groups(run);
  else
    co_await write_rows(run);
}

Task<void> WriteResident::write_rows(const lines::LineRun& run) {
  using Checks = lines::GatherLines::Checks;
  const std::size_t first = std::min<std::uint64_t>(job_.skip, run.count);
  if (first > 0) co_await skip(run, first);
  lines::GatherLines gather(run, *job_.format, job_.groups.is_one() ? Checks::ascending : Checks::ordered, first, run.count);
  gather.set_header(out_.beginning());
  out_.set_total(run.line_bytes);
  co_await former_.gather_to(gather, out_.sink());
  written_.out = gather.hash();
  written_.longest = gather.longest();
}

Task<void> WriteResident::write_groups(const lines::LineRun& run) {
  const std::string first = job_.groups.counts ? job_.format->top_of_counted(out_.beginning()) : out_.beginning();
  GatherGroups gather(run, *job_.format, job_.groups);
  gather.set_header(first);
  co_await former_.gather_to(gather, out_.sink());
  written_.out = gather.hash();
  written_.rows_of_groups = gather.rows_of_groups();
  written_.longest = gather.longest();
  if (!job_.groups.adds_up(written_.rows_of_groups, written_.out.count, gather.dropped().count))
    throw VerificationError("verification failed: the counts do not add up to the rows; the output was not written");
  written_.dropped += gather.dropped();
}

Task<void> WriteResident::skip(const lines::LineRun& run, std::size_t rows) {
  auto work = bench_.compute.run([&] { written_.skipped += lines::hash_of_first(run, *job_.format, rows); });
  co_await work;
}

}  // namespace ecosort::engine::rows
