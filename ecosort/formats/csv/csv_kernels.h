// The loops over the bytes of CSV, a variant of each for every instruction set. All variants give the same values.
//
// 64 bytes at a time become masks: quotes, delimiters, newlines. The prefix xor of the quotes says which bytes lie inside of them
// (Langdale, Lemire 2019, for JSON); a doubled quote closes and opens again, so that it needs no care. Dialects with escapes or
// delimiters of several bytes have kernels of their own, which take bytes out of the masks that are escaped, and delimiters that
// are not whole.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cpu_features.h"
#include "formats/csv/dialect.h"
#include "formats/inside.h"
#include "formats/lines/line_kernels.h"

namespace ecosort::csv {

// scan() finds this in some bytes that begin with a row.
struct Scan {
  // Delimiters, by their last bytes, and ends of rows outside of quotes, in ascending order.
  std::uint32_t offsets[lines::split_room];
  std::size_t count = 0;     // of them
  std::size_t rows = 0;      // of them, ends of rows
  bool has_quotes = false;   // or escapes, anywhere
  bool ends_inside = false;  // a newline is inside of quotes, or escaped
  bool is_wrong = false;     // a quote is where none may be
};

// Thread-safe.
struct CsvKernels {
  // size <= lines::split_bytes.
  void (*scan)(const char* text, std::size_t size, Dialect dialect, Scan& scan) noexcept;

  // The first newline outside of quotes and escapes in [at, end), or null; `inside` as RowFormat::find_end() has it.
  const char* (*find)(const char* at, const char* end, Dialect dialect, formats::Inside& inside) noexcept;

  // Says where field `column` of a whole row, without its end, lies; end - begin is 0 where the row has none.
  struct Span {
    std::size_t begin = 0, end = 0;
  };
  Span (*field)(const char* row, std::size_t size, Dialect dialect, std::size_t column) noexcept;

  // The row that begins at `row`, and its field `column`: size, without the end, `none` where no row ends in the `room` bytes,
  // or one has quotes or too few fields. As find() and field() in one look at the bytes. room < 2^32. In two registers. Only of
  // simple dialects; always `none` of others.
  struct PlainRow {
    static constexpr std::uint64_t none = ~std::uint64_t{0};
    std::uint64_t size = none;
    std::uint64_t field = 0;  // where it begins, and, 32 bits above, where it ends

    [[nodiscard]] std::size_t begin() const noexcept { return static_cast<std::uint32_t>(field); }
    [[nodiscard]] std::size_t end() const noexcept { return field >> 32U; }
  };
  PlainRow (*plain_row)(const char* row, std::size_t room, Dialect dialect, std::size_t column) noexcept;

  // Does as the one of LineKernels, for rows with quotes and without escapes.
  std::size_t (*gather)(const lines::GatherTask& task, std::uint32_t* sizes) noexcept;
};

// Dialects with escapes or delimiters of several bytes take `any`; it knows the simple ones, too.
struct CsvKernelsOfLevel {
  CsvKernels simple, any;
};

// Returns the kernels of cpu_level().
[[nodiscard]] const CsvKernels& csv_kernels(Dialect dialect);

// Returns the kernels of one level, for tests; it must not exceed detected_cpu_level().
[[nodiscard]] const CsvKernelsOfLevel& csv_kernels_of(CpuLevel level) noexcept;

extern const CsvKernelsOfLevel csv_kernels_baseline, csv_kernels_avx2, csv_kernels_avx512, csv_kernels_neon;

}  // namespace ecosort::csv
