// The formats of rows that there are, for loops over all rows: they are compiled for each, so that no row costs a virtual call.
#pragma once

#include "base/errors.h"
#include "formats/csv/csv_format.h"
#include "formats/jsonl/jsonl_format.h"
#include "formats/lines/line_order.h"
#include "formats/row_format.h"
#include "formats/shuffle/shuffle_format.h"

namespace ecosort::engine::rows {

// Returns what `work` returns of the format as what it is.
template <class Work>
auto with_format(const formats::RowFormat& format, const Work& work) {
  switch (format.kind()) {
    case formats::Kind::lines:
      return work(static_cast<const lines::LineOrder&>(format));
    case formats::Kind::csv:
      return work(static_cast<const csv::CsvFormat&>(format));
    case formats::Kind::jsonl:
      return work(static_cast<const jsonl::JsonlFormat&>(format));
    case formats::Kind::shuffled:
      return work(static_cast<const shuffle::ShuffleFormat&>(format));
  }
  throw InternalError("a format of rows that no one knows");
}

}  // namespace ecosort::engine::rows
