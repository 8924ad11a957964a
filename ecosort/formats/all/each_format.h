// The formats of rows that there are.
#pragma once

#include <cstdint>
#include <memory>

#include "base/byte_stream.h"
#include "base/errors.h"
#include "formats/csv/csv_format.h"
#include "formats/jsonl/jsonl_format.h"
#include "formats/lines/line_groups.h"
#include "formats/lines/line_order.h"
#include "formats/row_format.h"
#include "formats/shuffle/shuffle_format.h"

namespace ecosort::formats {

template <class... Each>
struct Types {};
using RowFormats = Types<lines::LineOrder, csv::CsvFormat, jsonl::JsonlFormat, shuffle::ShuffleFormat, lines::LineGroupOrder>;

template <class Work, class First, class... Others>
auto with_one_of(Types<First, Others...> /*types*/, const RowFormat& format, const Work& work) {
  if (const auto* const first = dynamic_cast<const First*>(&format)) return work(*first);
  if constexpr (sizeof...(Others) > 0) return with_one_of(Types<Others...>(), format, work);
  throw InternalError("a format of rows that no one knows");
}

// Returns what `work` returns of the format as what it is. Loops over all rows are compiled for each format by it, so that no row
// costs a virtual call.
template <class Work>
auto with_format(const RowFormat& format, const Work& work) {
  return with_one_of(RowFormats(), format, work);
}

template <class First>
concept HasOrderBytes = requires { First::kept_as; };

template <class First, class... Others>
std::unique_ptr<RowFormat> order_of(Types<First, Others...> /*types*/, Format format, ByteReader& in,
                                    std::uint64_t header_lines) {
  if constexpr (HasOrderBytes<First>)
    if (First::kept_as == format) return First::of_order_bytes(in, header_lines);
  if constexpr (sizeof...(Others) > 0) return order_of(Types<Others...>(), format, in, header_lines);
  return nullptr;
}

// Returns the format whose order_bytes() these are; null where rows of this format have none.
inline std::unique_ptr<RowFormat> order_of(Format format, ByteReader& in, std::uint64_t header_lines) {
  return order_of(RowFormats(), format, in, header_lines);
}

}  // namespace ecosort::formats
