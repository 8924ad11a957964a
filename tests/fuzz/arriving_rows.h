// Rows that arrive block by block, as the reader of a sort indexes them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

#include "formats/lines/duplicate_filter.h"
#include "formats/lines/index_lines.h"
#include "formats/lines/line_run.h"
#include "formats/row_format.h"

namespace ecosort::lines {

// Says how the text comes, and how many threads look at it.
struct Arrival {
  std::string_view text;
  std::size_t block_bytes = 1;
  unsigned threads = 0;
};

// Indexes into `run`, whose memory holds the text, at most `most` rows with each block, until all of it was looked at or a row is
// wrong.
inline Indexed index_as_it_arrives(const Arrival& arrival, const formats::RowFormat& format, LineRun& run, std::size_t most) {
  std::vector<DuplicateFilter> seen;
  Indexed all;
  for (std::size_t present = 0; present < arrival.text.size() && !all.fault;) {
    const std::size_t count = std::min(arrival.block_bytes, arrival.text.size() - present);
    std::memcpy(run.bytes() + present, arrival.text.data() + present, count);
    present += count;
    const Indexed some = index_lines(run, format, all.end, present, most, arrival.threads, seen);
    all.lines += some.lines;
    all.blank_lines += some.blank_lines;
    all.ends_inside += some.ends_inside;
    all.end = some.end;
    all.hash += some.hash;
    all.dropped += some.dropped;
    all.fault = some.fault;
  }
  return all;
}

}  // namespace ecosort::lines
