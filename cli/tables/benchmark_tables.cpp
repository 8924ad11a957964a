#include "cli/tables/tables.h"

namespace ecosort::cli {

CommandTable gen_table() {
  return {.name = "gen",
          .synopsis = "[-a] [-c] [-bN] [-s] [-tN] [--teragen] NUM_RECS FILE[,buf|,dir]",
          .summary = "makes records of the Sort Benchmark",
          .description = "Makes records of 100 bytes with keys of 10 bytes, as gensort 1.5 (sortbenchmark.org) and TeraGen do.",
          .examples = {"ecosort gen -a 10000000 in.dat        10 million ASCII records, 1 GB",
                       "ecosort gen -a -s 10000000 in.dat     the same with skewed keys",
                       "ecosort gen -c 10000000 /dev/null     only the checksum, on stderr",
                       "ecosort gen -b500 500 part2.dat       records 500 to 999 of a larger set",
                       "ecosort gen -a 1000 /dev/stdout | less"},
          .options = {{"-a", "", "", "ASCII records (printable); otherwise binary"},
                      {"-c", "", "", "print the sum of the records' CRC-32s on stderr"},
                      {"-b", "N", "0", "number of the first record, up to 128 bits", Concern::how, {}, true},
                      {"-s", "", "", "skewed keys"},
                      {"--teragen", "", "", "rows of Hadoop's TeraGen: number and marks in clear behind a binary key"},
                      {"-t", "N", "the CPUs this process may use", "compute with N threads", Concern::how, {}, true},
                      progress_option(),
                      {"--quiet", "", "", "no progress line", Concern::report}},
          .operands =
              {{"NUM_RECS", "how many records, in decimal digits; 0 makes an empty file"},
               {"FILE", "created or overwritten in place; /dev/null writes nothing, /dev/stdout writes a stream"},
               {",buf ,dir",
                "write through the page cache, or bypass it; by default it is bypassed for large files where that is possible"}},
          .ending =
              "A write that fails, or data that does not reach the drive, is an error; FILE is then left empty, as it is after "
              "Ctrl-C and SIGTERM. A run that is killed (SIGKILL) leaves FILE incomplete, perhaps at its full size: delete it or "
              "run again.",
          .exit_status = {{"0", "done"}, {"1", "an error, printed as one line on stderr"}, {"128+N", "ended by signal N"}}};
}

namespace {

std::vector<OptionRow> check_options() {
  return {{"-i", "", "", "upper and lower case letters (ASCII) are equal"},
          {"-q", "", "", "no report, only the exit status", Concern::report},
          {"-t", "N", "the CPUs this process may use", "compute with N threads", Concern::how, {}, true},
          {"-o", "FILE", "", "write a summary of 280 bytes there"},
          {"-s", "", "", "the files hold summaries instead of records"},
          {"--claim", "", "",
           "comes first: hold FILE against FILE.claim.json, which says its rows, their order, number and hash; "
           "--memory, --stats and --quiet may follow"},
          {"--request", "FILE", "",
           "comes first, for programs: a request as of `ecosort run` says the rows, their order, and the one input; "
           "--stats, --progress and --quiet may follow"},
          progress_option(),
          {"--quiet", "", "", "no progress line", Concern::report}};
}

}  // namespace

CommandTable check_table() {
  return {
      .name = "check",
      .synopsis =
          "FORMAT [options] FILE | --claim FILE | [-q] FILE.parquet... | [-i] [-q] [-tN] [-o SUMMARY_FILE] [-s] "
          "FILE[,buf|,dir]...",
      .summary = "says whether a file is in order, and its count and hash",
      .description =
          "With a FORMAT and those options of its command that define the order, checks the order of any file, and prints how "
          "many rows it has, how many of them have the key of the row before, and their hash, as --stats of a sort reports it. "
          "--claim in place of a FORMAT holds the file against its claim, and a Parquet file is held against the order that it "
          "claims itself. Without these, checks the order of 100-byte records by their first 10 bytes, as valsort 1.5 of "
          "sortbenchmark.org. The report is on stderr.",
      .examples = {"ecosort check out.dat                           is it in order? duplicates, checksum",
                   "ecosort check csv --by price:number sorted.csv  a table; --unique: and are all prices different?",
                   "ecosort check records --record-size 16 --key 8:u64 sorted.bin",
                   "ecosort check --claim sorted.csv                what `--claim` of its sort wrote beside it",
                   "ecosort check prices.parquet                    is it in the order of its `sorting_columns`?",
                   "ecosort check part1.dat part2.dat               two files that follow each other",
                   "ecosort check -o part1.sum part1.dat            keep a summary of a partition,",
                   "cat part*.sum > all.sum; ecosort check -s all.sum   and check all partitions as one"},
      .options = check_options(),
      .operands =
          {{"FORMAT", names_of_formats() + "; the options of the command that sorts such rows may follow that define the rows "
                                           "and their order, and --unique, --decompress, --memory, --stats and --quiet"},
           {"FILE", "may be a pipe or /dev/stdin"},
           {"MANIFEST.json",
            "of a cluster, also FILE.MANIFEST.json and s3://.../MANIFEST.json: all parts are checked, of any format, by "
            "ecosort-cluster"},
           {"FILE.parquet", "may be several; read by ecosort-parquet, which needs Python with pyarrow"},
           {",buf ,dir",
            "read through the page cache, or bypass it; by default it is bypassed for large files where that is possible"}},
      .ending = "",
      .exit_status = {
          {"0", "in order"},
          {"1",
           "not in order, or not as claimed; of records without a FORMAT also no record at all, an incomplete record, or an "
           "error"},
          {"2", "with a FORMAT, a claim, an address, a manifest or Parquet: wrong usage, or bad input"},
          {"3", "likewise: an I/O error"}}};
}

}  // namespace ecosort::cli
