#include <algorithm>
#include <iterator>

#include "cli/option_values.h"
#include "cli/tables/tables.h"

namespace ecosort::cli {

namespace {

std::vector<OptionRow> shuffle_options() {
  std::vector<OptionRow> options{
      {"-o,--output", "FILE", "",
       "where the shuffled rows go; `-` is standard output. An existing file is replaced only when all went well",
       Concern::output, sets("place.output", as_output)},
      {"--seed", "N", "a random one, which is printed at the end",
       "a number: the same rows with the same number get the same order, on every machine", Concern::how,
       sets("shuffle.seed", as_number)},
      limit_option(),
      {"--skip", "K", "0", "leave the first K rows of the whole shuffle out: the complement of --limit K with the same seed",
       Concern::how, sets("shuffle.skip", as_number)},
      {"--csv", "", "", "rows of CSV, whose header stays on top; values in quotes may hold newlines", Concern::rows,
       sets("csv", as_rows)},
      {"--jsonl", "", "", "JSON lines: each is checked, and blank lines are left out", Concern::rows, sets("jsonl", as_rows)},
      {"--record-size", "BYTES", "",
       "records of this size, 1 byte to 1 MiB, instead of lines; decompressed only with --decompress=auto", Concern::rows,
       sets("records.record_size", as_record_size)},
      {"--paragraphs", "", "", "keep lines up to an empty one together, with that empty line; further empty lines are left out",
       Concern::rows, sets("lines.paragraphs", flag<true>)},
      {"--record-lines", "N", "1", "keep N lines together, such as 4 of FASTQ", Concern::rows,
       sets("lines.record_lines", as_record_lines)},
      {"--record-start", "TEXT", "",
       "keep a line that begins with TEXT and those up to the next such line together, as `From ` of mbox or `>` of FASTA",
       Concern::rows, sets("lines.record_start", as_beginning)},
      {"--header", "N", "0",
       "the first N lines of each INPUT are its header: all headers must be alike, and one goes out, on top", Concern::rows,
       sets("lines.header_lines", as_header_lines)},
      {"-z,--zero-terminated", "", "", "lines end with NUL, not newline", Concern::rows, sets("lines.terminator", word<"\0">)},
      {"--delimiter", "TEXT|tab", "that of a first line `sep=;`, a tab where all files are named .tsv, else a comma",
       "with --csv: separator of values", Concern::rows, sets("csv.delimiter", as_delimiter)},
      {"--quote", "CHAR|none", "\"", "with --csv: what may enclose values; `none`: quotes are bytes like others", Concern::rows,
       sets("csv.quote", as_quote)},
      {"--escape", "CHAR", "", "with --csv: a newline behind CHAR is a part of the value", Concern::rows,
       sets("csv.escape", as_byte)},
      {"--no-header", "", "", "with --csv: the first row is no header", Concern::rows, sets("csv.header", flag<false>)}};
  for (OptionRow& row : chosen({"--memory", "--threads", "--temp", "--io", "--profile", "--no-profile", "--verify", "--stats",
                                "--events", "--trace", "--progress", "-q,--quiet"})) {
    if (row.name == "--temp") row.fallback = "$TMPDIR, or beside the output";
    options.push_back(row);
  }
  std::ranges::copy(run_compression_rows("none", "rows"), std::back_inserter(options));
  std::ranges::copy(compression_rows("auto", "auto"), std::back_inserter(options));
  return options;
}

// The rows are of one kind.
std::vector<ConflictRow> shuffle_conflicts() {
  return {
      {"--csv,--jsonl,--paragraphs,--record-lines,--record-start", "--record-size"},
      {"--csv,--jsonl,--record-lines,--record-start", "--paragraphs"},
      {"--csv,--jsonl,--record-start", "--record-lines"},
      {"--csv,--jsonl", "--record-start"},
      {"--csv", "--jsonl"},
      {"--header,--zero-terminated", "--record-size"},
      {"--header,--zero-terminated", "--paragraphs"},
      {"--header,--zero-terminated", "--record-lines"},
      {"--header,--zero-terminated", "--record-start"},
      {"--header,--zero-terminated", "--jsonl"},
      {"--header", "--csv", "--header cannot be combined with --csv, whose first row is the header anyway"},
      {"--zero-terminated", "--csv"},
      {"--limit", "--skip", "--limit K and --skip K with one seed make two files that share no row; give one of them at a time"}};
}

}  // namespace

CommandTable shuffle_table() {
  return {
      .name = "shuffle",
      .synopsis = "[--seed N] [options] INPUT... -o OUTPUT",
      .summary = "puts lines, rows or records into a random order, larger than memory",
      .description =
          "Writes the lines of all inputs in a random order: every permutation is equally likely. With --csv, --jsonl, "
          "--paragraphs, --record-lines, --record-start or --record-size it shuffles these instead of lines. The order depends "
          "only on the seed "
          "and on the rows' numbers (generator ecosort-shuffle/1), not on memory, threads or machine, nor on whether the rows "
          "are in one file or in pieces. Count and hash of all rows are compared before the output gets its name.",
      .examples = {"ecosort shuffle --seed 1 train.txt -o shuffled.txt         the same order whenever it runs",
                   "ecosort shuffle --csv --seed 7 part*.csv.gz -o all.csv.zst  one header on top",
                   "ecosort shuffle --seed 7 --limit 1000 data.txt -o test.txt   and with --skip 1000: all the others",
                   "ecosort shuffle --record-size 3072 images.bin -o shuffled.bin",
                   "ecosort shuffle --paragraphs - -o - < in > out             blank lines separate what stays together"},
      .options = shuffle_options(),
      .operands = {{"INPUT", "a file; `-` is standard input. It is never changed, unless it is the output"}},
      .ending = "A run on a drive stores 16 more bytes for each row.",
      .exit_status = exit_codes({{"1", "the written rows failed their verification"},
                                 {"2", "wrong usage, bad input, or a plan that cannot work"},
                                 {"3", "an I/O error, also an input that changed while it was read"}}),
      .conflicts = shuffle_conflicts(),
      .format = "lines",
      .fixed = {{"compression.decompress", true}, {"compression.output", "auto"}, {"shuffle", Json::object()}}};
}

}  // namespace ecosort::cli
