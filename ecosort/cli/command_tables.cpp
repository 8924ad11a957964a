// What every command takes, in the order in which its help tells it.
#include <algorithm>
#include <iterator>

#include "cli/compression_options.h"
#include "cli/node_tables.h"
#include "cli/option_table.h"

namespace ecosort::cli {

namespace {

constexpr std::string_view key_types =
    "Types of keys:\n"
    "  bytes     compared as unsigned bytes; this is the default\n"
    "  nocase    the same, but the ASCII letters a-z count as A-Z\n"
    "  u8 u16 u32 u64  unsigned integers of 1, 2, 4, 8 bytes\n"
    "  i8 i16 i32 i64  signed integers of 1, 2, 4, 8 bytes\n"
    "  f32 f64   floating-point numbers, from -infinity over -0 and +0 to +infinity; NaN of either sign comes after them, and "
    "all NaN "
    "are equal\n"
    "  dec       a decimal number in ASCII, exact for any number of digits: optional sign, digits, optional point; blanks around "
    "it "
    "(space, tab, CR, LF, NUL). Anything else is no number: it comes before all numbers, equal to its like\n"
    "Numbers are little-endian; `be` behind the type makes them big-endian (u32be), `le` says the default (neither behind u8, "
    "i8). "
    "Their length can be left out: 8:u64 is 8:8:u64le.";

std::vector<OperandRow> sort_codes() {
  return {
      {"0", "done"},
      {"1", "the written records failed their verification"},
      {"2", "wrong usage, bad input, or a plan that cannot work"},
      {"3", "an I/O error, also an input that changed while it was read; after inplace and sort --resumable, resume continues"},
      {"4", "an internal error"},
      {"128+N", "ended by signal N"}};
}

OptionRow progress_option() {
  return {
      "--progress", "auto|none|json", "auto",
      "`auto`: a line on standard error if it is a terminal, and one that sums up at the end; `json`: JSON lines there, and an "
      "error's as one more before its own line"};
}

std::vector<OptionRow> sort_options() {
  std::vector<OptionRow> options{
      {"-o,--output", "FILE", "",
       "where the sorted records go; `-` is standard output. An existing file is replaced only when all went well"},
      {"--record-size", "BYTES", "100", "length of every record, 1 byte to 1 MiB"},
      {"--key", "OFFSET:LENGTH[:TYPE][:desc]", "0:10",
       "sort key: its first byte, how many, of what type (see below); repeatable, the first one decides first", true},
      {"--reverse", "", "", "turn the order round; records with equal keys stay in input order"},
      {"--unique", "", "", "keep only the first record, in input order, of those with equal keys"},
      {"--stable", "", "", "accepted and changes nothing: the order is always stable"},
      {"--memory", "SIZE", "half of the available RAM, or the limit of the control group",
       "bound on all buffers, such as 512MiB"},
      {"--threads", "N", "the CPUs this process may use", "compute threads"},
      {"--merge-threads", "N", "those of --threads", "compute threads of the merge"},
      {"--temp", "DIR", "beside the output", "directory for sorted runs; repeatable, runs are striped over all drives named",
       true},
      {"--resumable", "", "",
       "keep runs and a journal in OUTPUT.ecosort, so that after a crash `ecosort resume OUTPUT` continues from there; its plan "
       "leaves no "
       "choice of --run-records, --merge-threads and requests"},
      {"--io", "auto|uring|pool|stxxl", "auto", "I/O backend"},
      {"--request-size", "SIZE", "1MiB; 8MiB for the output",
       "most bytes of a read or write: a multiple of 4KiB, 16KiB to 64MiB"},
      {"--request-depth", "N", "16", "most reads in flight, and most writes: 1 to 256"},
      {"--run-records", "N", "as many as the memory holds",
       "most records of a run, at least 3; an input that fits the memory is sorted there all the same"},
      {"--profile", "FILE", "~/.config/ecosort/profile.toml, if it is of this machine",
       "a profile of `ecosort tune`, for what no option says"},
      {"--no-profile", "", "", "do without any profile"},
      {"--verify", "always|reread", "always", "`reread` also reads the written output back from the device"},
      {"--checksum", "", "",
       "compute the input's checksum as valsort does, for --stats; `ecosort check` tells that of the output"},
      {"--stats", "FILE", "", "write a report of the run as JSON"},
      {"--events", "FILE", "", "write phase begin and end times as JSON lines, as they happen"},
      {"--trace", "FILE", "", "write every I/O request as a line of text, for a replay without computing (for developers)"},
      progress_option(),
      {"-q,--quiet", "", "", "no notices, no progress line"},
  };
  std::ranges::copy(run_compression_rows("none", "records"), std::back_inserter(options));
  return options;
}

OptionRow space_option() { return {"--space", "SIZE", "all there is", "in place: take at most so much of the free space"}; }

// Those of `names` from the options of sort, in their order there.
std::vector<OptionRow> chosen(const std::vector<std::string_view>& names) {
  std::vector<OptionRow> options;
  for (const OptionRow& row : sort_options())
    if (std::ranges::find(names, row.name) != names.end()) options.push_back(row);
  return options;
}

CommandTable inplace_table() {
  std::vector<OptionRow> options =
      chosen({"--record-size", "--key", "--reverse", "--stable", "--memory", "--threads", "--io", "--verify", "--profile",
              "--no-profile", "--stats", "--events", "--progress", "-q,--quiet"});
  options.push_back(space_option());
  options.push_back({"--unique", "", "", "refused: after a crash no one could tell a dropped record from a lost one"});
  options.push_back(
      {"--compress", "CODEC", "", "refused: runs lie in the space of the records, each at its place, and take all of it"});
  return {
      .name = "inplace",
      .synopsis = "[options] FILE",
      .summary = "sorts a file in its own space, crash-safe",
      .description =
          "Sorts FILE with a few percent of free space on its file system (ext4 with a journal, or XFS). While it works, the "
          "records are in the directory FILE.ecosort, and FILE is absent: under its own name it is the complete original or the "
          "complete result. After a crash, a full disk or Ctrl-C, `ecosort resume` continues.",
      .examples = {"ecosort plan inplace data.dat                    how much space it needs, and what it would do",
                   "ecosort inplace --memory 512MiB data.dat         sorts it",
                   "ecosort resume data.dat                          continues after an interruption"},
      .options = std::move(options),
      .operands = {{"FILE", "a regular file of whole records"}},
      .ending = key_types,
      .exit_status = sort_codes()};
}

CommandTable merge_table() {
  std::vector<OptionRow> options =
      chosen({"-o,--output", "--record-size", "--key", "--reverse", "--unique", "--stable", "--memory", "--threads", "--temp",
              "--io", "--profile", "--no-profile", "--stats", "--events", "--trace", "--progress", "-q,--quiet"});
  options.push_back(
      {"--lines", "", "", "stands first: merges files of text lines; the options of `ecosort lines` follow, such as -t and -k"});
  options.push_back({"--runs", "", "",
                     "stands first: merges the runs of interrupted jobs, which say themselves what they hold. They are named as "
                     "files (all of a "
                     "job), or by the job's directory (OUTPUT.ecosort), and are only read"});
  return {.name = "merge",
          .synopsis = "[options] SORTED... -o OUTPUT",
          .summary = "merges sorted files into one",
          .description =
              "Merges files of records that are sorted by the same keys. Their order is checked while they are read: a file that "
              "is not "
              "in order ends with exit 1 and the number of the record. Records with equal keys keep the order of the files. More "
              "files than "
              "the memory can merge at a time are merged in several passes.",
          .examples = {"ecosort merge monday.dat tuesday.dat -o both.dat",
                       "ecosort merge --record-size 16 --key 8:u64 part-*.bin -o all.bin",
                       "ecosort merge --lines -t, -k2,2n a.csv b.csv -o all.csv",
                       "ecosort merge --runs sorted.dat.ecosort -o elsewhere.dat"},
          .options = std::move(options),
          .operands = {{"SORTED", "a regular file of whole records, in order; with --runs a run, or the directory of a job"}},
          .ending = key_types,
          .exit_status = sort_codes()};
}

CommandTable resume_table() {
  std::vector<OptionRow> options{
      {"--status", "", "", "only tell how far the job is"},
      {"--abandon", "", "",
       "give the job up instead: in place, the records are put back into one file, unsorted (lines only as long as none has left "
       "FILE); of a sort, the job directory is removed. A job that is abandoned stays so"},
      {"--trust-owner", "USER", "",
       "continue with a job whose directory or files belong to that user, too; root then works as that user where the directory "
       "is "
       "his"},
      {"--trust-drive", "", "",
       "do not read the part of the output again that was written before the interruption; without this it must hold what the "
       "journal says"}};
  for (const OptionRow& row : chosen({"--memory", "--threads", "--io", "--stats", "--events", "--progress", "-q,--quiet"}))
    options.push_back(row);
  return {
      .name = "resume",
      .synopsis = "[options] FILE",
      .summary =
          "continues with an interrupted `inplace`, `lines --inplace`, or `sort`, `lines`, `csv` or `jsonl` with `--resumable`",
      .description =
          "Continues with an interrupted `ecosort inplace FILE`, `ecosort lines --inplace FILE`, or `ecosort sort`, `lines`, "
          "`csv` or `jsonl` with "
          "`--resumable ... "
          "-o FILE`, "
          "from its last durable run or checkpoint. May be interrupted and repeated as often as you like. Memory and threads "
          "are those of the job "
          "unless you give others.",
      .examples = {"ecosort resume --status data.dat", "ecosort resume data.dat", "ecosort resume --abandon data.dat"},
      .options = std::move(options),
      .operands = {{"FILE", "the file that was sorted in place, or the output; its job directory FILE.ecosort does as well"}},
      .ending = "",
      .exit_status = sort_codes()};
}

CommandTable sort_table() {
  return {
      .name = "sort",
      .synopsis = "[options] INPUT... -o OUTPUT",
      .summary = "sorts files of fixed-size records, however large",
      .description = "",
      .examples =
          {"ecosort sort input.dat -o sorted.dat                      the defaults suit gensort records",
           "ecosort sort --memory 1GiB --temp /ssd1 --temp /ssd2 a b -o out    two inputs, runs striped over two drives",
           "ecosort sort --record-size 16 --key 8:8 - -o - < in > out  16-byte records, key in the second half",
           "ecosort sort --record-size 32 --key 16:f64 --key 0:u64:desc a -o b   by a double, then by a number, largest first",
           "ecosort sort --resumable -q input.dat -o sorted.dat        after a crash: ecosort resume sorted.dat"},
      .options = sort_options(),
      .operands = {{"INPUT", "a file of whole records; `-` is standard input. It is never changed"}},
      .ending = key_types,
      .exit_status = sort_codes()};
}

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
      {"--header", "[=N]", "1 line", "keep the first N lines of the input on top"},
      {"--resumable", "", "",
       "keep runs and a journal in OUTPUT.ecosort, so that `ecosort resume OUTPUT` continues after a crash; regular files only, "
       "none compressed, and no -m, -c, --debug, --trace, --compress, --compress-program, --compress-output, -T"},
      {"--inplace", "", "",
       "sort FILE in its own space (ext4 with a journal, or XFS): while it works the lines are in FILE.ecosort, and FILE is "
       "absent; "
       "`ecosort resume FILE` continues. One plain file, and no -o, -u, -m, -c, -T, --header, --debug, --trace, --batch-size, "
       "--resumable, nothing compressed"},
      {"--io", "auto|uring|pool|stxxl", "auto", "I/O backend"},
      {"--verify", "always|reread", "always", "`reread` also reads the written output back from the device"},
      {"--stats", "FILE", "", "write a report of the run as JSON"},
      {"--events", "FILE", "", "write phase begin and end times as JSON lines, as they happen"},
      progress_option(),
      {"--quiet", "", "", "no notices, no progress line"},
  };
  std::ranges::copy(others, std::back_inserter(options));
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

constexpr std::string_view table_types =
    "Types of keys:\n"
    "  text      compared as unsigned bytes; this is the default\n"
    "  nocase    the same, but the ASCII letters a-z count as A-Z\n"
    "  number    a decimal number, exact for any number of digits: optional sign, digits, optional point, optional exponent of "
    "up to 5 "
    "digits\n"
    "  integer   the same without a point and an exponent\n"
    "  date      a date, or a date and a time, in ISO 8601 (2024-05-01, 2024-05-01T09:30:00.25+02:00), or in the --date-format; "
    "without an offset from UTC it is one of UTC\n"
    "  version   numbers within text are compared as numbers, as ecosort lines -V does\n"
    "  length    how many characters the value has (UTF-8)\n";

// What a command says of values behind the types.
std::string_view csv_ending() {
  static const std::string text = std::string(table_types) +
                                  "A value that is empty, or cannot be read as what its key says, stands behind all others, or "
                                  "with --nulls first in front of "
                                  "them, whatever the direction of the key. How many there are is told at the end.";
  return text;
}

std::string_view jsonl_ending() {
  static const std::string text =
      std::string(table_types) +
      "PATH is names with dots between them and [N], from 0 on, for arrays: user.tags[0]. A name with other signs is put in "
      "double "
      "quotes: '\"a.b\".c'. Where names repeat within an object, the first one counts. Whatever its type in JSON, a value is "
      "compared by its text: a string without quotes and escapes; a number, true or false as it is written; an object or an "
      "array "
      "byte for byte. So 10, \"10\" and \"1e1\" are equal numbers, and true stands among texts behind \"10\". A value that is "
      "missing or null, or cannot be read as what its key says, stands behind all others, or with --nulls first in front of "
      "them, "
      "whatever the direction of the key. How many there are is told at the end. Blank lines are left out, and counted.";
  return text;
}

OptionRow by_option(std::string_view argument, std::string_view text) { return {"--by", argument, "", text, true}; }

// What csv and jsonl have in common, behind what is their own.
std::vector<OptionRow> table_options(std::vector<OptionRow> options) {
  const std::vector<OptionRow> common{
      {"-o,--output", "FILE", "",
       "where the sorted rows go; `-` is standard output. An existing file is replaced only when all went well"},
      {"--nulls", "first|last", "last", "where values stand that are missing, empty or unparsable"},
      {"--strict", "", "", "refuse a value that cannot be read as what its key says"},
      {"--date-format", "FORMAT", "ISO 8601",
       "how dates are written, such as '%d.%m.%Y %H:%M'. It knows %Y %y %m %d %e %b %B %j %H %I %p %M %S %f (a fraction) %z %s "
       "%F %T "
       "%D %R %%"},
      {"--unique", "", "", "keep only the first row, in input order, of those with equal keys"},
      {"--check", "", "", "do not sort, only tell whether INPUT is in order; with --unique, strictly"},
      {"--merge", "", "", "merge files that are in order already, which is checked while they are read"},
      {"--resumable", "", "",
       "keep runs and a journal in OUTPUT.ecosort, so that `ecosort resume OUTPUT` continues after a crash; regular files only, "
       "none "
       "compressed, and no --merge, --check, --temp"},
  };
  options.insert(options.end(), common.begin(), common.end());
  for (OptionRow& row : chosen({"--memory", "--threads", "--temp", "--io", "--profile", "--no-profile", "--verify", "--stats",
                                "--events", "--trace", "--progress", "-q,--quiet"})) {
    if (row.name == "--temp") row.fallback = "$TMPDIR, or beside the output";
    options.push_back(row);
  }
  std::ranges::copy(run_compression_rows("auto", "rows"), std::back_inserter(options));
  std::ranges::copy(compression_rows("auto", "auto"), std::back_inserter(options));
  return options;
}

std::vector<OptionRow> csv_options() {
  return table_options({
      by_option("NAME[:TYPE][:desc]",
                "sort key: a column by its name in the header, what its values are (see below), `desc` for the largest first; "
                "repeatable, the first one decides first"),
      {"--delimiter", "CHAR|tab", "a tab where all files are named .tsv, else a comma", "what stands between values"},
      {"--quote", "CHAR|none", "\"", "what values may stand in; `none`: quotes are bytes like others"},
      {"--no-header", "", "", "the first row is no header; --by 3 is the third column"},
  });
}

std::vector<OptionRow> jsonl_options() {
  return table_options(
      {by_option("PATH[:TYPE][:desc]",
                 "sort key: the way to a value, what it is (see below), `desc` for the largest first; repeatable, "
                 "the first one decides first")});
}

std::vector<OperandRow> table_codes() {
  return {{"0", "done"},
          {"1", "--check found a row out of order, or the written rows failed their verification"},
          {"2", "wrong usage, bad input, or a plan that cannot work"},
          {"3", "an I/O error, also an input that changed while it was read"},
          {"4", "an internal error"},
          {"128+N", "ended by signal N"}};
}

CommandTable csv_table() {
  return {.name = "csv",
          .synopsis = "--by NAME[:TYPE][:desc] [options] INPUT... -o OUTPUT",
          .summary = "sorts CSV by columns, with quotes, headers and typed keys",
          .description =
              "Sorts rows of CSV (RFC 4180), however large: values in quotes may hold delimiters and newlines. Rows go out byte "
              "for byte "
              "as they came in, and rows with equal keys stay in input order. The headers of all inputs must be alike; one goes "
              "out. A row "
              "with more or fewer fields than the header, or with a quote where none may stand, is an error that tells file, "
              "line and "
              "byte.",
          .examples = {"ecosort csv --by price:number:desc --by name shop.csv -o sorted.csv",
                       "ecosort csv --by when:date --memory 1GiB --temp /ssd part*.csv -o all.csv    several files, one header",
                       "ecosort csv --no-header --delimiter tab --by 3:version - -o - < in > out     a stream without a header",
                       "ecosort csv --by user a.csv.gz b.csv.zst -o all.csv.zst                      compressed files",
                       "ecosort csv --resumable --by user big.csv -o sorted.csv                      after a crash: ecosort "
                       "resume sorted.csv",
                       "ecosort csv --check --by id:integer sorted.csv                               is it in order?"},
          .options = csv_options(),
          .operands = {{"INPUT", "CSV; `-` is standard input. It is never changed, unless it is the output"}},
          .ending = csv_ending(),
          .exit_status = table_codes()};
}

CommandTable jsonl_table() {
  return {
      .name = "jsonl",
      .synopsis = "--by PATH[:TYPE][:desc] [options] INPUT... -o OUTPUT",
      .summary = "sorts JSON lines by values within them, with typed keys",
      .description =
          "Sorts lines of JSON, one value of JSON (RFC 8259) in each, however large the file. Lines go out byte for byte as they "
          "came in, and lines with equal keys stay in input order. A line that is no valid JSON is an error that tells file, "
          "line, byte and what is wrong.",
      .examples = {"ecosort jsonl --by time:date --by user.name log.jsonl -o sorted.jsonl",
                   "ecosort jsonl --by 'items[0].price:number:desc' --memory 1GiB part*.jsonl -o all.jsonl",
                   "ecosort jsonl --unique --by id - -o - < in > out        the first line of each id",
                   "ecosort jsonl --check --by id:integer sorted.jsonl      is it in order?"},
      .options = jsonl_options(),
      .operands = {{"INPUT", "JSON lines; `-` is standard input. It is never changed, unless it is the output"}},
      .ending = jsonl_ending(),
      .exit_status = table_codes()};
}

OptionRow json_option() { return {"--json", "", "", "print the plan as one JSON object"}; }

// Only `names` are told of; the others are understood, so that a whole command can be planned with `plan` in front of it.
std::vector<OptionRow> showing(std::vector<OptionRow> options, const std::vector<std::string_view>& names) {
  for (OptionRow& row : options) row.is_hidden = std::ranges::find(names, row.name) == names.end();
  return options;
}

constexpr std::string_view plan_ending =
    "Any other option that the command takes may stand here, too: it does not change the plan.";

std::vector<OperandRow> plan_codes() { return {{"0", "it can be done so"}, {"2", "it cannot, and why is told in one line"}}; }

CommandTable plan_sort_table() {
  std::vector<OptionRow> options =
      showing(sort_options(), {"-o,--output", "--record-size", "--key", "--reverse", "--memory", "--threads", "--merge-threads",
                               "--temp", "--resumable", "--io", "--request-size", "--request-depth", "--run-records", "--profile",
                               "--no-profile", "--compress", "--assume-ratio", "--goal", "-q,--quiet"});
  options.push_back(json_option());
  options.push_back(
      {"--assume-size", "SIZE", "", "plan for an input of this size that is not there, such as 1TB; -o may be left out"});
  options.push_back({"--space", "SIZE", "", "", false, false, true});
  return {
      .name = "plan sort",
      .synopsis = "[options] INPUT... -o OUTPUT",
      .summary = "prints what `ecosort sort` would do with these words; writes nothing",
      .description = "",
      .examples = {"ecosort plan sort --memory 1GiB input.dat -o sorted.dat", "ecosort plan sort --json input.dat -o sorted.dat",
                   "ecosort plan sort --assume-size 1TB --memory 4GiB --temp /ssd     how often it would be moved",
                   "ecosort plan sort --profile p.toml in -o out     how long it will take, and what would help"},
      .options = std::move(options),
      .operands = {{"INPUT", "a file of whole records; `-` is standard input"}},
      .ending = plan_ending,
      .exit_status = plan_codes()};
}

CommandTable plan_inplace_table() {
  std::vector<OptionRow> options = showing(sort_options(), {"--record-size", "--key", "--reverse", "--memory", "--threads",
                                                            "--io", "--profile", "--no-profile", "-q,--quiet"});
  options.push_back(json_option());
  options.push_back(space_option());
  options.push_back({"--assume-size", "SIZE", "", "plan for a file of this size that is not there, such as 1TB"});
  return {.name = "plan inplace",
          .synopsis = "[options] FILE",
          .summary = "prints what `ecosort inplace` would do with these words, and how much free space it needs; writes nothing",
          .description = "",
          .examples = {"ecosort plan inplace data.dat", "ecosort plan inplace --assume-size 1TB --space 24GB --memory 4GiB"},
          .options = std::move(options),
          .operands = {{"FILE", "a regular file of whole records"}},
          .ending = plan_ending,
          .exit_status = plan_codes()};
}

CommandTable plan_lines_table() {
  std::vector<OptionRow> options =
      showing(lines_options(), {"--batch-size", "--compress-program", "--files0-from",     "-m,--merge",
                                "-o,--output",  "-S,--buffer-size",   "--memory",          "-T,--temporary-directory",
                                "--temp",       "--parallel",         "-u,--unique",       "--header",
                                "--resumable",  "--inplace",          "--compress",        "--assume-ratio",
                                "--goal",       "--decompress",       "--compress-output", "--level"});
  options.push_back({"--json", "", "", "with --resumable or --inplace: print the plan as one JSON object"});
  options.push_back({"--assume-size", "SIZE", "", "plan for lines of this size in all that are not there, such as 1TB"});
  return {.name = "plan lines",
          .synopsis = "[options] [FILE...]",
          .summary = "prints bounds of what `ecosort lines` would do with these words; writes nothing",
          .description = "What `lines` takes depends on the lengths of the lines, which show only when they are read.",
          .examples = {"ecosort plan lines -S 1G log.txt -o sorted.txt", "ecosort plan lines -S 4G --assume-size 1TB"},
          .options = std::move(options),
          .operands = {{"FILE", "text; `-`, or none, is standard input"}},
          .ending = plan_ending,
          .exit_status = plan_codes()};
}

CommandTable plan_rows_table(std::string_view name, std::string_view synopsis, std::string_view summary,
                             std::vector<OptionRow> options, std::vector<std::string_view> examples, std::string_view operand) {
  options = showing(std::move(options), {"--by", "-o,--output", "--unique", "--merge", "--resumable", "--memory", "--threads",
                                         "--temp", "--compress", "--assume-ratio", "--goal"});
  options.push_back({"--json", "", "", "with --resumable: print the plan as one JSON object"});
  options.push_back({"--assume-size", "SIZE", "", "plan for rows of this size in all that are not there, such as 1TB"});
  return {.name = name,
          .synopsis = synopsis,
          .summary = summary,
          .description = "What the sort takes depends on the lengths of the rows, which show only when they are read.",
          .examples = std::move(examples),
          .options = std::move(options),
          .operands = {{"INPUT", operand}},
          .ending = plan_ending,
          .exit_status = plan_codes()};
}

CommandTable plan_csv_table() {
  return plan_rows_table("plan csv", "--by NAME[:TYPE][:desc] [options] INPUT... -o OUTPUT",
                         "prints bounds of what `ecosort csv` would do with these words; writes nothing", csv_options(),
                         {"ecosort plan csv --by price:number --memory 1GiB shop.csv -o sorted.csv",
                          "ecosort plan csv --by price:number --memory 4GiB --assume-size 1TB"},
                         "CSV; `-` is standard input");
}

CommandTable plan_jsonl_table() {
  return plan_rows_table("plan jsonl", "--by PATH[:TYPE][:desc] [options] INPUT... -o OUTPUT",
                         "prints bounds of what `ecosort jsonl` would do with these words; writes nothing", jsonl_options(),
                         {"ecosort plan jsonl --by time:date --memory 1GiB log.jsonl -o sorted.jsonl",
                          "ecosort plan jsonl --by time:date --memory 4GiB --assume-size 1TB"},
                         "JSON lines; `-` is standard input");
}

CommandTable plan_table() {
  return {.name = "plan",
          .synopsis = "sort|csv|jsonl [options] INPUT... -o OUTPUT | inplace [options] FILE | lines [options] [FILE...]",
          .summary = "prints what sort, inplace, lines, csv or jsonl would do; writes nothing",
          .description = "",
          .examples = {"ecosort plan sort --memory 1GiB input.dat -o sorted.dat",
                       "ecosort plan sort --assume-size 1TB --memory 4GiB", "ecosort plan lines -S 1G log.txt -o sorted.txt",
                       "ecosort plan inplace data.dat                    how much free space it needs"},
          .options = {},
          .operands = {{"sort", "its options: ecosort plan sort --help"},
                       {"inplace", "its options: ecosort plan inplace --help"},
                       {"lines", "its options: ecosort plan lines --help"},
                       {"csv", "its options: ecosort plan csv --help"},
                       {"jsonl", "its options: ecosort plan jsonl --help"}},
          .ending = "",
          .exit_status = plan_codes()};
}

CommandTable gen_table() {
  return {
      .name = "gen",
      .synopsis = "[-a] [-c] [-bN] [-s] [-tN] NUM_RECS FILE[,buf|,dir]",
      .summary = "makes records of the Sort Benchmark",
      .description = "Makes records of 100 bytes with keys of 10 bytes, the same bytes as gensort 1.5 of sortbenchmark.org.",
      .examples = {"ecosort gen -a 10000000 in.dat        10 million ASCII records, 1 GB",
                   "ecosort gen -a -s 10000000 in.dat     the same with skewed keys",
                   "ecosort gen -c 10000000 /dev/null     only the checksum, on stderr",
                   "ecosort gen -b500 500 part2.dat       records 500 to 999 of a larger set",
                   "ecosort gen -a 1000 /dev/stdout | less"},
      .options = {{"-a", "", "", "ASCII records (printable); otherwise binary"},
                  {"-c", "", "", "print the sum of the records' CRC-32s on stderr"},
                  {"-b", "N", "0", "number of the first record, up to 128 bits", false, true},
                  {"-s", "", "", "skewed keys"},
                  {"-t", "N", "the CPUs this process may use", "compute with N threads", false, true},
                  progress_option(),
                  {"--quiet", "", "", "no progress line"}},
      .operands = {{"NUM_RECS", "how many records, in decimal digits; 0 makes an empty file"},
                   {"FILE", "created or overwritten in place; /dev/null writes nothing, /dev/stdout writes a stream"},
                   {",buf ,dir",
                    "write through the page cache, or bypass it; by default it is bypassed for large files "
                    "where that is possible"}},
      .ending =
          "A write that fails, or data that does not reach the drive, is an error; FILE is then left empty. A run that is killed "
          "leaves FILE incomplete, perhaps at its full size: delete it or run again.",
      .exit_status = {{"0", "done"}, {"1", "an error, told in one line on stderr"}}};
}

CommandTable check_table() {
  return {
      .name = "check",
      .synopsis = "[-i] [-q] [-tN] [-o SUMMARY_FILE] [-s] FILE[,buf|,dir]...",
      .summary = "says whether such records are in order, and their checksum",
      .description =
          "Checks the order of 100-byte records by their first 10 bytes, as valsort 1.5 of sortbenchmark.org. The "
          "report is on stderr.",
      .examples = {"ecosort check out.dat                           is it in order? duplicates, checksum",
                   "ecosort check part1.dat part2.dat               two files that follow each other",
                   "ecosort check -o part1.sum part1.dat            keep a summary of a partition,",
                   "cat part*.sum > all.sum; ecosort check -s all.sum   and check all partitions as one"},
      .options = {{"-i", "", "", "upper and lower case letters (ASCII) are equal"},
                  {"-q", "", "", "no report, only the exit status"},
                  {"-t", "N", "the CPUs this process may use", "compute with N threads", false, true},
                  {"-o", "FILE", "", "write a summary of 280 bytes there"},
                  {"-s", "", "", "the files hold summaries instead of records"},
                  progress_option(),
                  {"--quiet", "", "", "no progress line"}},
      .operands = {{"FILE", "may be a pipe or /dev/stdin"},
                   {"MANIFEST.json",
                    "of a cluster, also FILE.MANIFEST.json and s3://.../MANIFEST.json: all parts are checked, of any format, by "
                    "ecosort-cluster"},
                   {",buf ,dir",
                    "read through the page cache, or bypass it; by default it is bypassed for large files "
                    "where that is possible"}},
      .ending = "",
      .exit_status = {{"0", "in order"},
                      {"1", "not in order, no record at all, an incomplete record, or an error, told in one line on stderr"}}};
}

CommandTable power_table() {
  return {.name = "power",
          .synopsis = "COMMAND ...",
          .summary = "measures the energy of a sort with a real meter (ecosort-power)",
          .description = "Runs the program ecosort-power with the words that follow; it explains itself with --help.",
          .examples = {"ecosort power meters                            what can be read on this machine",
                       "ecosort power run --runs 5 --meter ipmi:local -- ecosort sort in.dat -o out.dat"},
          .options = {},
          .operands = {},
          .ending = ""};
}

CommandTable tune_table() {
  return {.name = "tune",
          .synopsis = "COMMAND ...",
          .summary = "probes this machine, searches its best settings, predicts, compares measurements (ecosort-tune)",
          .description = "Runs the program ecosort-tune with the words that follow; it explains itself with --help.",
          .examples = {"ecosort tune probe --temp /ssd/tmp              what its drive and processor can do, as a profile",
                       "ecosort tune search --goal time --size 4GB --memory 512MiB --budget 20min --dir /ssd/tmp",
                       "ecosort tune compare before.json after.json    is the difference of two benchmarks more than noise?"},
          .options = {},
          .operands = {},
          .ending = ""};
}

CommandTable joulesort_table() {
  return {.name = "joulesort",
          .synopsis = "CLASS --meter M [OPTIONS] [-- OPTIONS OF SORT]",
          .summary = "makes a whole JouleSort entry: input, five cold runs, validation, submission (ecosort-power)",
          .description = "Runs `ecosort-power joulesort` with the words that follow; it explains itself with --help.",
          .examples = {"ecosort joulesort 1e8 --meter shelly://192.0.2.5 --data /mnt/ssd",
                       "ecosort joulesort --records auto --meter shelly://192.0.2.5   a rehearsal, never ranked"},
          .options = {},
          .operands = {},
          .ending = ""};
}

CommandTable cluster_table() {
  return {.name = "cluster",
          .synopsis = "COMMAND ...",
          .summary = "sorts files on several nodes, into parts with a manifest (ecosort-cluster)",
          .description = "Runs the program ecosort-cluster with the words that follow; it explains itself with --help.",
          .examples = {"ecosort cluster sort --format csv --by when:date --on ray --nodes-temp /lustre/tmp *.csv -o sorted",
                       "ecosort cluster sort --plan --format lines log*.txt -o sorted    what would be done",
                       "ecosort cluster resume sorted                   continues after a crash of a worker, a node, or itself",
                       "ecosort cluster check sorted                    counts, hashes and order of all parts"},
          .options = {},
          .operands = {},
          .ending = ""};
}

CommandTable queue_table() {
  return {.name = "queue",
          .synopsis = "COMMAND ...",
          .summary = "keeps sorts that are to be done, tonight or every night (ecosort-appliance)",
          .description = "Runs `ecosort-appliance queue` with the words that follow; it explains itself with --help.",
          .examples = {"ecosort queue add --at 02:00 -- sort huge.dat -o sorted.dat",
                       "ecosort queue list                              what waits, works, and ended lately"},
          .options = {},
          .operands = {},
          .ending = ""};
}

CommandTable serve_table() {
  return {.name = "serve",
          .synopsis = "[OPTIONS]",
          .summary = "does what is queued and shows it on a page (ecosort-appliance)",
          .description = "Runs `ecosort-appliance serve` with the words that follow; it explains itself with --help.",
          .examples = {"ecosort serve                                   the page is at http://127.0.0.1:8080/",
                       "ecosort serve --meter shelly://192.0.2.5        with watts and joules"},
          .options = {},
          .operands = {},
          .ending = ""};
}

CommandTable manual_table() {
  return {.name = "manual",
          .synopsis = "man [COMMAND] | bash | fish",
          .summary = "prints a man page, or the completion of a shell",
          .description = "",
          .examples = {"ecosort manual man | man -l -                   read it",
                       "ecosort manual man lines | man -l -             the page of a command",
                       "source <(ecosort manual bash)                   complete options and values in this shell"},
          .options = {},
          .operands = {{"man", "the man page ecosort(1), or with COMMAND that of a command, such as ecosort-sort(1)"},
                       {"bash", "completion for bash; zsh reads it, too, after `autoload -U bashcompinit && bashcompinit`"},
                       {"fish", "completion for fish"}},
          .ending = "",
          .exit_status = {{"0", "done"}, {"2", "wrong usage"}, {"3", "it could not be written"}}};
}

}  // namespace

const std::vector<CommandTable>& command_tables() {
  static const std::vector<CommandTable> tables{
      sort_table(),      inplace_table(),   resume_table(), lines_table(), csv_table(),   jsonl_table(), merge_table(),
      sample_table(),    partition_table(), plan_table(),   gen_table(),   check_table(), power_table(), tune_table(),
      joulesort_table(), cluster_table(),   queue_table(),  serve_table(), manual_table()};
  return tables;
}

const std::vector<CommandTable>& plan_tables() {
  static const std::vector<CommandTable> tables{plan_sort_table(), plan_inplace_table(), plan_lines_table(), plan_csv_table(),
                                                plan_jsonl_table()};
  return tables;
}

}  // namespace ecosort::cli
