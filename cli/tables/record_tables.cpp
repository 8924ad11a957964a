#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "cli/compression_options.h"
#include "cli/option_values.h"
#include "cli/tables/tables.h"

namespace ecosort::cli {

namespace {

// Words of the commands for text.
constexpr std::string_view record_key_advice =
                               "a key is bytes of a record: --key OFFSET:LENGTH; text has ecosort lines, csv, jsonl",
                           record_text_advice = "text is sorted by ecosort lines, csv or jsonl",
                           record_merge_advice = "tables are merged by ecosort csv --merge, JSON lines by ecosort jsonl --merge";
constexpr HabitRow habits_with_records[] = {
    {"-k", record_key_advice},       {"--by", record_key_advice},         {"-n", record_text_advice},
    {"-t", record_text_advice},      {"--delimiter", record_text_advice}, {"--header", record_text_advice},
    {"--lines", record_text_advice}, {"--csv", record_text_advice},       {"--jsonl", record_text_advice}};
constexpr HabitRow habits_with_sorted_records[] = {
    {"--by", record_merge_advice},
    {"--csv", record_merge_advice},
    {"--jsonl", record_merge_advice},
    {"-k", "a key is bytes of a record: --key OFFSET:LENGTH; text has ecosort merge --lines"}};

// Types that share a text are on one line.
std::string key_types() {
  std::string text = "Types of keys:\n", names;
  for (const RecordTypeFacts& type : record_types) {
    names += fmt::format("{}{}", names.empty() ? "" : " ", type.name);
    if (type.text.empty()) continue;
    text += fmt::format("  {:<8}  {}\n", names, type.text);
    names.clear();
  }
  return text +
         "Numbers are little-endian; `be` behind the type makes them big-endian (u32be), `le` says the default (neither behind "
         "u8, i8). Their length can be left out: 8:u64 is 8:8:u64le.";
}

std::vector<OperandRow> sort_codes() {
  return exit_codes(
      {{"1", "the written records failed their verification"},
       {"2", "wrong usage, bad input, or a plan that cannot work"},
       {"3",
        "an I/O error, also an input that changed while it was read; after inplace and sort --resumable, resume continues"}});
}

std::vector<OperandRow> resume_codes() {
  std::vector<OperandRow> codes = sort_codes();
  codes.front().text = "done, or FILE is there and no job of it is interrupted";
  codes.insert(codes.end() - 1, {"5", "no sort of FILE was begun, or nothing of it was done: start the sort"});
  return codes;
}

// A sort that can be resumed has one plan, and knows each record of the input again.
std::vector<ConflictRow> sort_conflicts() {
  return {
      {"--temp", "--resumable", temp_conflict},
      {"--unique", "--resumable",
       "--unique cannot be combined with --resumable: after a crash no one could distinguish a dropped record from a lost one; "
       "drop duplicates "
       "from the sorted file"},
      {"--checksum", "--resumable",
       "--checksum cannot be combined with --resumable; `ecosort check` prints the checksum of the output"},
      {"--limit", "--resumable", limit_conflict},
      {"--limit", "--keep-free",
       "--limit cannot be combined with --keep-free: how much is stored shows when the records are read"},
      {"--trace", "--resumable"},
      {"--claim", "--resumable"},
      {"--skip-bytes", "--resumable"},
      {"--keep-free", "--resumable",
       "--keep-free cannot be combined with --resumable: `ecosort plan sort --resumable` prints what stays free"},
      {"--request-size,--request-depth", "--resumable", "--request-size and --request-depth cannot be combined with --resumable"},
      {"--gather", "--resumable", "--gather cannot be combined with --resumable: such a job stores its runs"},
      {"--merge-threads,--run-records", "--resumable", "--merge-threads and --run-records cannot be combined with --resumable"},
      goal_conflict()};
}

std::vector<ConflictRow> merge_conflicts() {
  std::vector<ConflictRow> rows;
  for (const std::string_view option :
       {"--skip-bytes", "--record-size", "--key", "--reverse", "--unique", "--expect-hash", "--claim"})
    rows.push_back({option, "--runs", "merge --runs: the runs say what they hold and how it is sorted; leave {} out"});
  rows.push_back(
      {"--checksum", "--runs", "merge --runs: leave --checksum out; `ecosort check` prints the checksum of the output"});
  return rows;
}

}  // namespace

std::vector<OperandRow> exit_codes(std::vector<OperandRow> own) {
  own.insert(own.begin(), {"0", "done"});
  own.push_back({"4", "an internal error"});
  own.push_back({"128+N", "ended by signal N"});
  return own;
}

ConflictRow goal_conflict() { return {"--goal", "--resumable", energy_goes_without_resumable, "energy"}; }

OptionRow progress_option() {
  return {"--progress",
          "auto|none|json",
          "auto",
          "`auto`: a line on standard error if it is a terminal, and a summary at the end; `json`: JSON lines on standard error, "
          "the last one for an error before its message",
          Concern::report,
          checked(as_choice)};
}

namespace {

std::vector<OptionRow> means_options() {
  return {
      {"--memory", "SIZE", "half of the available RAM, or the limit of the control group", "bound on all buffers, such as 512MiB",
       Concern::memory, sets("means.memory_bytes", as_memory)},
      {"--threads", "N", "the CPUs this process may use",
       "compute threads. `auto`: as many as `ecosort tune search` found, else one for each core: the second CPU of a core (SMT), "
       "and cores with less than half the capacity of the fastest, get none",
       Concern::means, sets("means.threads", as_threads)},
      {"--merge-threads", "N", "those of --threads", "compute threads of the merge", Concern::how,
       sets("means.merge_threads", as_threads)},
      {"--temp", "DIR", "beside the output", "directory for sorted runs; repeatable, runs are striped over all drives named",
       Concern::temp, adds_to("means.temp_directories", as_text)},
      {"--keep-free", "SIZE", "0 bytes",
       "begin only if so much space stays free beside the runs and the output, such as 10GB; inputs must be files, not pipes",
       Concern::means, sets("means.keep_free_bytes", as_bytes)},
      {"--resumable", "", "",
       "keep runs and a journal in OUTPUT.ecosort, so that after a crash `ecosort resume OUTPUT` continues from there; cannot be "
       "combined with --run-records, --merge-threads, --request-size and --request-depth",
       Concern::job, sets("place.kind", word<"resumable">)},
      {"--io", "auto|uring|pool|stxxl", "auto", "I/O backend", Concern::how, sets("means.io", as_choice)},
      {"--request-size", "SIZE", "1MiB; 8MiB for the output", "most bytes of a read or write: a multiple of 4KiB, 16KiB to 64MiB",
       Concern::how, sets("means.request_bytes", as_request_size)},
      {"--request-depth", "N", "16", "most reads in flight, and most writes: 1 to 256", Concern::how,
       sets("means.request_depth", as_request_depth)},
      {"--gather", "auto|always|never", "never",
       "store no runs of records of 12 KiB or more: sort their keys, then read each record from where it lies, which moves half "
       "of "
       "the bytes and wants no temporary space; `auto`: where such reads are measured to take 400 us or less",
       Concern::how, sets("means.gather", as_choice)},
      {"--run-records", "N", "as many as the memory holds",
       "most records of a run, at least 3; an input that fits in memory is still sorted there", Concern::how,
       sets("means.run_records", as_run_records)},
  };
}

// These say how the run is chosen, checked and reported.
std::vector<OptionRow> run_options() {
  return {
      {"--profile", "FILE", "~/.config/ecosort/profile.toml, if it is of this machine",
       "a profile of `ecosort tune`: defaults for options you did not give", Concern::input},
      {"--no-profile", "", "", "use no profile"},
      {"--verify", "always|reread", "always", "`reread` also reads the written output back from the device", Concern::how,
       sets("verification.reread", as_reread)},
      {"--checksum", "", "",
       "compute the input's checksum as valsort does, for --stats; `ecosort check` prints that of the output", Concern::how,
       sets("verification.checksum", flag<true>)},
      {"--stats", "FILE", "", "write a report of the run as JSON", Concern::report},
      {"--events", "FILE", "", "write phase begin and end times as JSON lines, as they happen", Concern::report},
      {"--trace", "FILE", "", "write every I/O request as a line of text, for a replay without computing (for developers)",
       Concern::report},
      progress_option(),
      {"-q,--quiet", "", "", "no notices, no progress line", Concern::report},
  };
}

}  // namespace

std::vector<OptionRow> sort_options() {
  std::vector<OptionRow> options{
      {"-o,--output", "FILE", "",
       "where the sorted records go; `-` is standard output. An existing file is replaced only when all went well",
       Concern::output, sets("place.output", as_output)},
      {"--skip-bytes", "N", "0",
       "each INPUT begins with N bytes before its records, up to 1 MiB: they must be the same in all; OUTPUT gets them",
       Concern::how, sets("rows.skip_bytes", as_number)},
      {"--record-size", "BYTES", "100", "length of every record, 1 byte to 1 MiB", Concern::rows,
       sets("rows.record_size", as_record_size)},
      {"--key", "OFFSET:LENGTH[:TYPE][:desc]", "0:10",
       "sort key: its first byte, its length, its type (see below); repeatable, the first one decides first", Concern::rows,
       adds_to("rows.keys", as_text)},
      {"--reverse", "", "", "reverse the order; records with equal keys stay in input order", Concern::rows,
       sets("rows.reverse", flag<true>)},
      {"--unique", "", "", "keep only the first record, in input order, of those with equal keys", Concern::how,
       sets("unique", flag<true>)},
      limit_option(),
      by_group_option(),
      claim_option(),
      {"--stable", "", "", "accepted and changes nothing: the order is always stable"},
  };
  std::ranges::copy(means_options(), std::back_inserter(options));
  std::ranges::copy(run_options(), std::back_inserter(options));
  std::ranges::copy(run_compression_rows("none", "records"), std::back_inserter(options));
  return with_groups(
      std::move(options),
      {"OFFSET:LENGTH[:TYPE][:desc]", "write one of several equal records, with their number in front: 8 bytes, little-endian"});
}

OptionRow as_is_option() {
  return {"--as-is",    "",
          "",           "in place: sort the bytes as records even if they look like an archive or compressed data",
          Concern::how, sets("place.as_is", flag<true>)};
}

OptionRow claim_option() {
  return {"--claim",
          "",
          "",
          "write OUTPUT.claim.json beside the output: the order, the number of rows, the size and the hash, which `merge`, "
          "--merge, `lines -m` and `ecosort check --claim` read",
          Concern::how,
          sets("place.claim", flag<true>)};
}

OptionRow limit_option() {
  return {
      "--limit",
      "K",
      "all",
      "write only the first K rows of the sorted output. The others are dropped, most of them as they are read; where K rows fit "
      "in memory, nothing is stored",
      Concern::how,
      sets("limit", as_number)};
}

OptionRow by_group_option() {
  return {"--by-group",
          "[=N]",
          "all keys but the last",
          "with --limit: write the first K of each group of rows that are equal in the first N keys",
          Concern::how,
          sets("by_group", as_group_keys)};
}

OptionRow space_option() {
  return {"--space",      "SIZE",
          "all there is", "in place: take at most so much of the free space",
          Concern::means, sets("place.space_bytes", as_bytes)};
}

// Returns those of `names` from the options of sort, in their order there.
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
  options.push_back(as_is_option());
  options.push_back({"--unique", "", "", "refused: after a crash no one could distinguish a dropped record from a lost one"});
  options.push_back({"--compress", "CODEC", "", "not available: in-place runs reuse the file's own space"});
  return {
      .name = "inplace",
      .synopsis = "[options] FILE",
      .summary = "sorts a file in its own space, crash-safe",
      .description =
          "Sorts FILE with a few percent of free space on its file system (ext4 with a journal, or XFS). While it works, the "
          "records are in the directory FILE.ecosort, and FILE is absent: under its own name it is the complete original or "
          "the complete result. After a crash, a full disk or Ctrl-C, `ecosort resume` continues.",
      .examples = {"ecosort plan inplace data.dat                    how much space it needs, and what it would do",
                   "ecosort inplace --memory 512MiB data.dat         sorts it",
                   "ecosort resume data.dat                          continues after an interruption"},
      .options = std::move(options),
      .operands = {{"FILE", "a regular file of whole records"}},
      .ending = "",
      .exit_status = sort_codes(),
      .conflicts =
          {{"--compress", "",
            "--compress is not available in place: runs lie in the space of the records, each at its place, and take "
            "all of it; use ecosort sort --compress where there is space for an output"},
           {"--unique", "",
            "--unique is not available in place: after a crash no one could distinguish a dropped record from a lost one; use "
            "ecosort sort --unique, or drop duplicates from the sorted file"}},
      .format = "records",
      .fixed = {{"place.kind", "in_place"}},
      .key_types = key_types};
}

namespace {

// Inputs of a merge that are no sorted files.
std::vector<OptionRow> options_of_runs() {
  return {{"--runs", "", "",
           "comes first: merges the runs of interrupted jobs, which describe their own format and order. Name all run files of a "
           "job, or the job's directory (OUTPUT.ecosort); they are only read"},
          {"--append-rest", "", "",
           "with --runs and the directory of a job: appends the part of its input that is in no run yet to the merged runs, "
           "unsorted"}};
}

}  // namespace

CommandTable merge_table() {
  std::vector<OptionRow> options =
      chosen({"-o,--output",   "--skip-bytes",   "--record-size", "--key",      "--reverse",  "--unique",
              "--stable",      "--memory",       "--threads",     "--temp",     "--io",       "--profile",
              "--no-profile",  "--stats",        "--events",      "--trace",    "--progress", "-q,--quiet",
              "--compress",    "--assume-ratio", "--goal",        "--checksum", "--claim",    "--unique-by",
              "--unique-rows", "--count",        "--repeated",    "--singles",  "--keep"});
  options.push_back({"--expect-hash", "HASH", "",
                     "the hash of all records, as `ecosort partition` or --stats reported it: the output must have it, and "
                     "the inputs need not be hashed once more",
                     Concern::how, sets("verification.expected_hash", as_hash)});
  options.push_back(
      {"--lines", "", "", "comes first: merges files of text lines; the options of `ecosort lines` follow, such as -t and -k"});
  std::ranges::copy(options_of_runs(), std::back_inserter(options));
  return {.name = "merge",
          .synopsis = "[options] SORTED... -o OUTPUT",
          .summary = "merges sorted files into one",
          .description =
              "Merges files of records that are sorted by the same keys. Their order is checked while they are read: a file that "
              "is not in order ends with exit 1 and the number of the record. Records with equal keys keep the order of the "
              "files. More files than the memory can merge at a time are merged in several passes.",
          .examples = {"ecosort merge monday.dat tuesday.dat -o both.dat",
                       "ecosort merge --record-size 16 --key 8:u64 part-*.bin -o all.bin",
                       "ecosort merge --lines -t, -k2,2n a.csv b.csv -o all.csv",
                       "ecosort merge --runs sorted.dat.ecosort -o elsewhere.dat",
                       "ecosort merge --runs --append-rest big.dat.ecosort -o elsewhere.dat"},
          .options = std::move(options),
          .operands = {{"SORTED", "a regular file of whole records, in order; with --runs a run, or the directory of a job"}},
          .ending = "",
          .exit_status = sort_codes(),
          .habits = habits_with_sorted_records,
          .conflicts = merge_conflicts(),
          .format = "records",
          .fixed = {{"input_order", "sorted"}},
          .key_types = key_types};
}

CommandTable resume_table() {
  std::vector<OptionRow> options{
      {"--status", "", "", "only print how far the job is"},
      {"--abandon", "", "",
       "end the job for good: in place, all records or lines are put back into one file of the same size, in the order that the "
       "job has reached; otherwise the job directory is removed. An abandoned job cannot be resumed"},
      {"--trust-owner", "USER", "",
       "continue with a job whose directory or files belong to that user, too; root then works as that user where the directory "
       "is his"},
      {"--trust-drive", "", "",
       "do not read again the part of the output that was written before the interruption; without this option it is read and "
       "compared with the journal. With --abandon in place, also take runs that the drive damaged as they are, and zeros "
       "for what it cannot read"}};
  for (const OptionRow& row : chosen({"--memory", "--threads", "--io", "--stats", "--events", "--progress", "-q,--quiet"}))
    options.push_back(row);
  return {
      .name = "resume",
      .synopsis = "[options] FILE",
      .summary =
          "continues with an interrupted `inplace`, `lines --inplace`, or `sort`, `lines`, `csv` or `jsonl` with `--resumable`",
      .description =
          "Continues with an interrupted `ecosort inplace FILE`, `ecosort lines --inplace FILE`, or `ecosort sort`, `lines`, "
          "`csv` or `jsonl` with `--resumable ... -o FILE`, from its last durable run or checkpoint. May be interrupted and "
          "repeated as often as you like. Memory and threads are those of the job unless you give others.",
      .examples = {"ecosort resume --status data.dat", "ecosort resume data.dat", "ecosort resume --abandon data.dat"},
      .options = std::move(options),
      .operands = {{"FILE", "the file that was sorted in place, or the output; its job directory FILE.ecosort does as well"}},
      .ending = "",
      .exit_status = resume_codes(),
      .format = "records"};
}

CommandTable run_table() {
  std::vector<OptionRow> options =
      chosen({"--goal", "--profile", "--no-profile", "--stats", "--events", "--trace", "--progress", "-q,--quiet"});
  std::ranges::copy(options_of_runs(), std::back_inserter(options));
  return {.name = "run",
          .synopsis = "[options] REQUEST",
          .summary = "does the sort that a request in JSON describes, for programs",
          .description =
              "Does what a request says (`ecosort manual request` prints its JSON schema), and reports as the "
              "equivalent command does.",
          .examples = {"ecosort run request.json", "ecosort run --stats stats.json - < request.json"},
          .options = std::move(options),
          .operands = {{"REQUEST", "a file with the request; `-` is standard input"}},
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
      .ending = "",
      .exit_status = sort_codes(),
      .habits = habits_with_records,
      .conflicts = sort_conflicts(),
      .format = "records",
      .key_types = key_types};
}

}  // namespace ecosort::cli
