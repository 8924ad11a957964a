#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "cli/tables/tables.h"

namespace ecosort::cli {
namespace {

std::vector<OptionRow> range_options() {
  return {
      {"--from", "BYTE", "0", "the range: rows that begin at this byte of the file or behind it"},
      {"--to", "BYTE", "the end of the file", "and in front of this one. Ranges that tile a file have each row once"},
      {"--source", "N", "0", "number of the file among those that belong together; equal rows are in the order of their files"}};
}

// Returns those of the command that sorts the format, of which these are listed here.
std::vector<OptionRow> shared_options(std::string_view output_argument, std::string_view output) {
  return {{"-o,--output", output_argument, "", output, Concern::output},
          {"--memory", "SIZE", "half of the available RAM, or the limit of the control group",
           "bound on all buffers, such as 512MiB", Concern::memory},
          {"--record-size", "BYTES", "100", "records: length of every record, 1 byte to 1 MiB", Concern::rows},
          {"--key", "OFFSET:LENGTH[:TYPE][:desc]", "0:10", "records: sort key, as of `ecosort sort`; repeatable", Concern::rows,
           adds_to({}, nullptr)},
          {"--reverse", "", "", "records: reverse the order", Concern::rows},
          {"--threads", "N", "the CPUs this process may use", "compute threads", Concern::means},
          {"--io", "auto|uring|pool|stxxl", "auto", "I/O backend"},
          {"--events", "FILE", "", "write phase begin and end times as JSON lines, as they happen", Concern::report},
          {"--progress", "auto|none|json", "auto", "a line on standard error, or JSON lines there", Concern::report},
          {"-q,--quiet", "", "", "no notices, no progress line", Concern::report}};
}

std::vector<OptionRow> joined(std::vector<OptionRow> first, const std::vector<std::vector<OptionRow>>& others) {
  for (const std::vector<OptionRow>& rows : others) std::ranges::copy(rows, std::back_inserter(first));
  return first;
}

std::string format_words() {
  return names_of_formats() +
         "; all options of the command that sorts such rows may follow that define the rows and their order. Or `request`: the "
         "operand is a request in JSON that says the same, as `ecosort request` prints it";
}

std::vector<OperandRow> codes() {
  return exit_codes({{"1", "the output would differ from what was read"},
                     {"2", "wrong usage, bad input, or too little memory or space"},
                     {"3", "an I/O error, also an input that changed while it was read"}});
}

std::vector<ConflictRow> sample_conflicts() {
  std::vector<ConflictRow> rows;
  for (const std::string_view option : {"--from", "--to", "--source", "--count", "--seed"})
    rows.push_back({option, "--merge", "sample: {} cannot be combined with --merge"});
  return rows;
}

}  // namespace

CommandTable sample_table() {
  return {.name = "sample",
          .synopsis = "FORMAT [options] INPUT --count N -o SAMPLE | FORMAT --merge --parts N [options] SAMPLE... -o SPLITTERS",
          .summary = "draws rows from a range of a file, and splitters from many such samples",
          .description =
              "Draws rows at random places of a range, one from each of N pieces of equal size, reads no more than the pages "
              "they are in, and writes them in order: JSON lines with the row in base64, the number of its file, and its place. "
              "With --merge, reads such samples and writes the rows at their quantiles, which cut all rows into parts of about "
              "the same size. A sample stands for its range: draw as many rows for each byte of every range. Of lines, CSV and "
              "JSON lines places are drawn among the bytes, so that parts are of about the same size in bytes.",
          .examples = {"ecosort sample records a.dat --source 0 --count 10000 -o a.sample",
                       "ecosort sample records b.dat --source 1 --count 10000 -o b.sample",
                       "ecosort sample csv --by price:number shop.csv --count 10000 -o shop.sample",
                       "ecosort sample records --merge a.sample b.sample --parts 200 -o splitters"},
          .options = joined({{"--count", "N", "", "how many rows; less where the range has fewer"},
                             {"--seed", "N", "0", "of the random places: the same rows for the same number, on every machine"},
                             {"--merge", "", "", "the operands are samples: choose splitters"},
                             {"--parts", "N", "", "with --merge: of how many parts"}},
                            {range_options(), shared_options("FILE", "where the rows go; `-` is standard output")}),
          .operands = {{"FORMAT", format_words()}, {"INPUT", "a regular file"}, {"SAMPLE", "what this command wrote"}},
          .ending = "",
          .exit_status = codes(),
          .conflicts = sample_conflicts()};
}

CommandTable partition_table() {
  return {.name = "partition",
          .synopsis = "FORMAT [options] INPUT --splitters FILE --report FILE -o DIRECTORY",
          .summary = "cuts a range of a file into slices at splitters, in one pass",
          .description =
              "Reads a range of a file once and writes the rows of each part to a file of its own, PREFIX.00000 and so on, in "
              "their order. A row belongs to the part whose number is that of the splitters that are not behind it, by their "
              "keys, then by the number of the file, then by the place in it: equal rows are cut, too. The report has count, "
              "bytes, hash, and the first and the last row of every slice; hashes of slices add up to that of the range. Slices "
              "and then the report appear complete and durable, or not at all.",
          .examples = {"ecosort partition records a.dat --splitters splitters --report a.json -o slices",
                       "ecosort partition lines -t, -k2,2n log.txt --splitters splitters --report log.json -o slices",
                       "ecosort partition records b.dat --from 1000000000 --to 2000000000 --source 1 --splitters splitters "
                       "--prefix b1 --report b1.json -o slices"},
          .options = joined(
              {{"--splitters", "FILE", "", "where to cut: what `ecosort sample --merge` wrote", Concern::input},
               {"--report", "FILE", "", "write what the slices hold as JSON, when all of them are there", Concern::report},
               {"--prefix", "NAME", "slice", "what the names of the slices begin with"},
               {"--sort", "", "",
                "sort the rows of each slice; where the range does not fit the memory, a slice is several sorted files"},
               {"--overwrite", "", "", "replace files that have the names of slices"},
               {"--trace", "FILE", "",
                "write every I/O request as a line of text, for a replay without computing (for developers)", Concern::report}},
              {range_options(), shared_options("DIR", "the directory of the slices")}),
          .operands = {{"FORMAT", format_words()}, {"INPUT", "a regular file"}},
          .ending =
              "Every part has a write block in memory, 64 KiB or more. With --sort, what fits the memory at a time is sorted and "
              "makes files of its own: PREFIX.00000, then PREFIX.00000.00001 and so on for the first part. Merged in this order "
              "(ecosort merge; lines -m, csv --merge, jsonl --merge) they are the part of the range; the report lists them. "
              "Slices of CSV begin with the header. Whether a byte of CSV lies inside of quotes depends on all bytes before: a "
              "range of CSV with quotes reads everything in front of its end, or with --quote none nothing.",
          .exit_status = codes()};
}

CommandTable plan_partition_table() {
  std::vector<OptionRow> options = chosen({"--record-size", "--memory", "--threads"});
  options.insert(options.begin(), {{"--parts", "N", "", "how many parts the splitters make", Concern::input},
                                   {"--assume-size", "SIZE", "", "how long the range is, such as 4GB", Concern::input},
                                   {"--sort", "", "", "the rows of each slice are sorted"}});
  options.push_back({"--json", "", "", "print the plan as one JSON object"});
  return {.name = "plan partition",
          .synopsis = "FORMAT --parts N --assume-size SIZE [options]",
          .summary = "prints the memory and the files that `ecosort partition` of such a range takes; reads and writes nothing",
          .description = "",
          .examples = {"ecosort plan partition records --parts 200 --assume-size 4GB --sort --memory 512MiB"},
          .options = std::move(options),
          .operands = {{"FORMAT", names_of_formats()}},
          .ending = "Rows of lines, CSV and JSON lines count as 100 bytes each: how long they are shows when they are read.",
          .exit_status = {{"0", "it can be done so"}, {"2", "it cannot, and one line says why"}},
          .format = "records"};
}

}  // namespace ecosort::cli
