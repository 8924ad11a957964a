// The formats of rows that there are, for loops over all rows: they are compiled for each, so that no row costs a virtual call.
#pragma once

#include "base/errors.h"
#include "formats/csv/csv_format.h"
#include "formats/jsonl/jsonl_format.h"
#include "formats/lines/line_order.h"
#include "formats/row_format.h"

namespace ecosort::lines {

// Returns what `work` returns of the format as what it is.
template <class Work>
auto with_format(const rows::RowFormat& format, const Work& work) {
  switch (format.kind()) {
    case rows::Kind::lines:
      return work(static_cast<const LineOrder&>(format));
    case rows::Kind::csv:
      return work(static_cast<const csv::CsvFormat&>(format));
    case rows::Kind::jsonl:
      return work(static_cast<const jsonl::JsonlFormat&>(format));
  }
  throw InternalError("a format of rows that no one knows");
}

}  // namespace ecosort::lines
