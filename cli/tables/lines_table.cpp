#include "cli/tables/lines_table.h"

#include <algorithm>
#include <iterator>

#include "cli/compression_options.h"
#include "cli/tables/record_tables.h"

namespace ecosort::cli {

namespace {

std::vector<OptionRow> ordering_options() {
  return {
      {"-b,--ignore-leading-blanks", "", "", "ignore leading blanks"},
      {"-d,--dictionary-order", "", "", "consider only blanks and alphanumeric characters"},
      {"-f,--ignore-case", "", "", "fold lower case to upper case characters"},
      {"-g,--general-numeric-sort", "", "", "compare according to general numerical value"},
      {"-h,--human-numeric-sort", "", "", "compare human readable numbers (2K 1G)"},
      {"-i,--ignore-nonprinting", "", "", "consider only printable characters"},
      {"-M,--month-sort", "", "", "compare (unknown) < JAN < ... < DEC"},
      {"-n,--numeric-sort", "", "", "compare according to string numerical value"},
      {"-R,--random-sort", "", "", "shuffle, but group identical keys"},
      {"--random-source", "FILE", "", "get random bytes from FILE"},
      {"-r,--reverse", "", "", "reverse the result of comparisons"},
      {"--sort", "general-numeric|human-numeric|month|numeric|random|version", "", "the same as -g, -h, -M, -n, -R, -V"},
      {"-V,--version-sort", "", "", "natural sort of version numbers within text"},
  };
}

}  // namespace

std::vector<OptionRow> lines_options() {
  std::vector<OptionRow> options = ordering_options();
  const std::vector<OptionRow> others{
      {"--batch-size", "N", "as the memory allows", "merge at most N runs or files at once"},
      {"-c,--check", "", "", "check for sorted input; do not sort. --check=quiet, --check=silent: as -C"},
      {"-C", "", "", "like -c, but do not report the first line out of order"},
      {"--compress-program", "PROG", "",
       "compress temporaries with PROG, decompress them with PROG -d; PROG is one file name, without arguments. 16 runs, or "
       "--batch-size, are merged at a time; whether temporaries fit is not checked before the work. For lz4 and zstd no program "
       "is started: see --compress"},
      {"--debug", "", "", "underline the part of each line that is compared, and tell about questionable keys on stderr"},
      {"--files0-from", "FILE", "", "read the input files that FILE names, each name ended by NUL; `-`: from standard input"},
      {"-k,--key", "POS1[,POS2]", "", "sort by a key; repeatable. POS is F[.C][OPTS]: field F, character C, options bdfghiMnRrV",
       true},
      {"-m,--merge", "", "", "merge already sorted files; do not sort"},
      {"-o,--output", "FILE", "standard output", "write the result to FILE, which may be an input"},
      {"-s,--stable", "", "", "stabilize the sort by disabling the last-resort comparison"},
      {"-S,--buffer-size", "SIZE", "", "memory for all buffers: a number of KiB, or with b, K, M, G, T, %"},
      {"--memory", "SIZE", "half of the available RAM, or the limit of the control group",
       "likewise, such as 512MiB; refused where it cannot be had, while -S takes what there is"},
      {"-t,--field-separator", "SEP", "non-blank to blank transition", "the character between fields; '\\0' is NUL"},
      {"-T,--temporary-directory", "DIR", "$TMPDIR, or beside the output", "directory for sorted runs; repeatable", true},
      {"--temp", "DIR", "", "the same", true},
      {"--parallel", "N", "the CPUs this process may use", "compute threads"},
      {"-u,--unique", "", "", "keep the first of lines with equal keys; with -c, check for strict ordering"},
      {"-z,--zero-terminated", "", "", "lines end with NUL, not newline"},
      {"--header", "[=N]", "1 line",
       "the first N lines of each FILE are its header: all headers must be alike, and one goes out, on top; also with -c and -m"},
      {"--resumable", "", "",
       "keep runs and a journal in OUTPUT.ecosort, so that `ecosort resume OUTPUT` continues after a crash; regular files only, "
       "none compressed, and no -m, -c, --debug, --trace, --compress-program, --compress-output, -T"},
      {"--inplace", "", "",
       "sort FILE in its own space (ext4 with a journal, or XFS): while it works the lines are in FILE.ecosort, and FILE is "
       "absent; "
       "`ecosort resume FILE` continues. One plain file, and no -o, -u, -m, -c, -T, --header, --debug, --trace, --batch-size, "
       "--resumable. Compressed data, archives, databases and text with NUL bytes (without -z) are refused"},
      {"--as-is", "", "", "with --inplace: sort FILE for good, also where it does not look like text"},
  };
  std::ranges::copy(others, std::back_inserter(options));
  std::ranges::copy(chosen({"--io", "--verify", "--stats", "--events", "--progress"}), std::back_inserter(options));
  options.push_back({"--quiet", "", "", "no notices, no progress line"});
  std::ranges::copy(chosen({"--profile", "--no-profile", "--trace"}), std::back_inserter(options));
  std::ranges::copy(run_compression_rows("auto", "rows"), std::back_inserter(options));
  std::ranges::copy(compression_rows("never", "none"), std::back_inserter(options));
  return options;
}

CommandTable lines_table() {
  return {
      .name = "lines",
      .synopsis = "[options] [FILE...]",
      .summary = "sorts text lines with the grammar of GNU sort",
      .description =
          "Writes the sorted concatenation of all FILEs to standard output: the bytes that `LC_ALL=C sort` writes. The order is "
          "always that of the C locale, whatever the environment says. -k takes positions as `sort` does, and +N [-M] is "
          "understood.",
      .examples = {"ecosort lines log.txt -o sorted.txt                by whole lines",
                   "ecosort lines -t, -k2,2n --header data.csv         by the second column, as a number",
                   "ecosort lines -u -S 1G -T /scratch *.txt           without duplicates, in 1 GiB",
                   "ecosort lines -m part*.txt | uniq -c               merges sorted files",
                   "ecosort lines --decompress=auto --compress-output=auto *.gz -o all.zst",
                   "ecosort lines --resumable log.txt -o sorted.txt    after a crash: ecosort resume sorted.txt",
                   "ecosort lines --inplace -k2,2n log.txt             on a drive that is nearly full; likewise"},
      .options = lines_options(),
      .operands = {{"FILE", "text; `-`, or none, is standard input. An output may replace an input"}},
      .ending = "-y is refused.",
      .exit_status = {{"0", "done"},
                      {"1", "-c or -C found lines out of order, or a wrong WORD of --sort or --check, as in sort"},
                      {"2", "an error, told on stderr in the words of sort"},
                      {"4", "an internal error"},
                      {"128+N", "ended by signal N"}}};
}

}  // namespace ecosort::cli
