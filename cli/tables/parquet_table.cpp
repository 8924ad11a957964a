#include <algorithm>
#include <iterator>

#include "cli/option_values.h"
#include "cli/tables/tables.h"

namespace ecosort::cli {

namespace {

std::vector<OptionRow> parquet_options() {
  std::vector<OptionRow> options{
      {"--by", "COLUMN[:desc]", "",
       "sort key: a column by its name, `desc` for the largest first; repeatable, the first one decides first. Values compare as "
       "their type says, texts by their bytes",
       Concern::rows, adds_to("table.keys", as_text)},
      {"-o,--output", "FILE", "", "where the sorted rows go. An existing file is replaced only when all went well",
       Concern::output, sets("place.output", as_output)},
      {"--nulls", "first|last", "last", "where nulls go, whatever the direction of the key", Concern::rows,
       sets("table.nulls_first", as_nulls_first)},
      {"--unique", "", "", "keep only the first row, in input order, of those with equal keys", Concern::how,
       sets("unique", flag<true>)},
      {"--limit", "K", "all", "write only the first K of the sorted rows; a run keeps no more than that", Concern::how,
       sets("limit", as_number)},
  };
  for (OptionRow& row : chosen({"--memory", "--threads", "--temp", "--stats", "-q,--quiet"})) {
    if (row.name == "--memory") row.fallback = "256MiB";
    if (row.name == "--temp") row.fallback = "$TMPDIR, or /tmp";
    options.push_back(row);
  }
  return options;
}

}  // namespace

CommandTable parquet_table() {
  return {.name = "parquet",
          .synopsis = "--by COLUMN[:desc] [options] INPUT... -o OUTPUT",
          .summary = "sorts Parquet by columns; the file claims its order (ecosort-parquet)",
          .description =
              "Sorts the rows of Parquet files, however large, by columns; rows with equal keys stay in input order. All files "
              "have the same columns. The output has the codec of each column, the rows of a row group (as far as the memory "
              "has room for them) and the page index of the first INPUT, and claims its order as `sorting_columns`, up to the "
              "first key that is a floating-point number (programs put NaN and -0.0 in different places), so that readers may "
              "leave out a sort of theirs. Runs the program ecosort-parquet, which needs Python with pyarrow.",
          .examples = {"ecosort parquet --by city --by price:desc in.parquet -o sorted.parquet",
                       "ecosort parquet --by id --unique part-*.parquet -o all.parquet           one row of each id",
                       "ecosort parquet --by price:desc --limit 100 s3://shop/all.parquet -o top.parquet"},
          .options = parquet_options(),
          .operands = {{"INPUT", "a Parquet file, a directory of such files, or an address: s3://, http://, https://"}},
          .ending = "",
          .exit_status = exit_codes({{"1", "the written rows failed their verification"},
                                     {"2", "wrong usage, bad input, or a sort that cannot work"},
                                     {"3", "an I/O error"}})};
}

}  // namespace ecosort::cli
