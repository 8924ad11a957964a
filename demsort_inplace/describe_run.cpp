#include "demsort_inplace/describe_run.h"

#include "demsort_inplace/kept_keys.h"
#include "run/order_bytes.h"

namespace ecosort::demsort_inplace {

std::uint64_t head_bytes(const records::RecordFormat& format, const Layout& layout) {
  const std::uint64_t kept = kept_keys_bytes(layout.run_run_blocks(0), layout.key_stride);
  return run::head_bytes_for(run::order_bytes(format).size(), 0, layout.unit, kept);
}

std::uint64_t head_bytes(const LineTerms& terms, const formats::RowFormat& format, std::uint64_t unit) {
  return run::head_bytes_for(format.order_bytes().size(), terms.first_row ? terms.first_row->size() : 0, unit);
}

// Run 0 is the tail of the input, so that it comes last among equals.
run::Description describe(const JobHeader& header, std::uint64_t run, const hash::MultisetHash& hash) {
  const Layout& layout = header.layout;
  return {.format = Format::records,
          .direction = direction_of(layout),
          .head_bytes = layout.head_bytes,
          .block_bytes = layout.run_block.bytes,
          .record_size = layout.record_size,
          .job = header.job,
          .run = run,
          .position = layout.runs() - 1 - run,
          .of = layout.runs(),
          .bytes = hash.count * layout.record_size,
          .hash = hash,
          .order = run::order_bytes(header.format)};
}

run::Description describe(const RowJob& job, const RunDone& run, const RunPlace& place) {
  const LineRunDone& of_rows = *run.lines;
  return {.format = job.format.format(),
          .direction = run::Direction::forward,
          .head_bytes = job.header.layout.head_bytes,
          .block_bytes = job.header.lines->block_bytes,
          .job = job.header.job,
          .run = run.run,
          .position = place.position,
          .span = place.span,
          .bytes = of_rows.bytes,
          .longest = of_rows.longest,
          .hash = run.tally.hash,
          .is_unique = job.is_unique,
          .is_header = of_rows.is_header,
          .follows_header = !of_rows.is_header && job.has_header_run,
          .order = job.format.order_bytes(),
          .first_row = job.header.lines->first_row};
}

}  // namespace ecosort::demsort_inplace
