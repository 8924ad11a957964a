#include <algorithm>
#include <iterator>
#include <utility>

#include "cli/option_values.h"
#include "cli/tables/tables.h"

namespace ecosort::cli {

namespace {

OptionRow gnu(OptionRow row) {
  row.is_gnu = true;
  return row;
}

OptionRow ordering(std::string_view name, std::string_view text, ValueOf value) {
  return gnu({name, "", "", text, Concern::rows, sets("rows.ordering", value)});
}

std::vector<OptionRow> ordering_options() {
  return {
      ordering("-b,--ignore-leading-blanks", "ignore leading blanks", letter<'b'>),
      ordering("-d,--dictionary-order", "consider only blanks and alphanumeric characters", letter<'d'>),
      ordering("-f,--ignore-case", "fold lower case to upper case characters", letter<'f'>),
      ordering("-g,--general-numeric-sort", "compare according to general numerical value", letter<'g'>),
      ordering("-h,--human-numeric-sort", "compare human readable numbers (2K 1G)", letter<'h'>),
      ordering("-i,--ignore-nonprinting", "consider only printable characters", letter<'i'>),
      ordering("-M,--month-sort", "compare (unknown) < JAN < ... < DEC", letter<'M'>),
      ordering("-n,--numeric-sort", "compare according to string numerical value", letter<'n'>),
      gnu({"-R,--random-sort", "", "", "shuffle, but group identical keys", Concern::how, sets("rows.ordering", letter<'R'>)}),
      gnu({"--random-source", "FILE", "", "get random bytes from FILE", Concern::input,
           sets("rows.random_source", as_random_source)}),
      ordering("-r,--reverse", "reverse the result of comparisons", letter<'r'>),
      gnu({"--sort", "general-numeric|human-numeric|month|numeric|random|version", "", "the same as -g, -h, -M, -n, -R, -V",
           Concern::how, sets("rows.ordering", as_sort_word)}),
      ordering("-V,--version-sort", "natural sort of version numbers within text", letter<'V'>),
  };
}

std::vector<ConflictRow> resumable_conflicts() {
  return {
      {"--check,-C", "--resumable", "--resumable: -c and -C sort nothing; leave it out"},
      {"--debug", "--resumable"},
      {"--merge", "--resumable",
       "-m cannot be combined with --resumable: what is sorted is merged in one step; sort it without -m to be able to resume"},
      {"--compress-program", "--resumable"},
      {"--limit", "--resumable", limit_conflict},
      {"--trace", "--resumable"},
      {"--temporary-directory,--temp", "--resumable",
       "--resumable keeps its runs beside the output, in OUTPUT.ecosort; leave -T out, or name an output there"},
      goal_conflict()};
}

std::vector<ConflictRow> in_place_conflicts() {
  return {
      {"--output", "--inplace", "-o means nothing in place: the result takes the place of the file"},
      {"--unique", "--inplace",
       "-u is not available in place: after a crash no one could distinguish a dropped line from a lost one; use ecosort lines "
       "-u "
       "-o, "
       "or drop duplicates from the sorted file"},
      {"--header", "--inplace", "--header cannot be combined with --inplace; use ecosort lines --header -o"},
      {"--limit", "--inplace",
       "--limit is not available in place: every line of the file stays in it; use ecosort lines --limit -o"},
      {"--check,-C", "--inplace", "--inplace: -c and -C sort nothing; leave it out"},
      {"--merge", "--inplace", "-m cannot be combined with --inplace: one file is sorted"},
      {"--debug", "--inplace"},
      {"--temporary-directory,--temp", "--inplace", "-T means nothing in place: runs take the space of the file"},
      {"--batch-size", "--inplace", "--batch-size cannot be combined with --inplace: all runs are merged at once"},
      {"--trace", "--inplace"},
      {"--compress-output", "--inplace", "--compress-output cannot be combined with --inplace: compress the file afterwards"}};
}

// Rows of several lines.
std::vector<ConflictRow> group_conflicts() {
  return {{"--record-lines,--record-start", "--paragraphs"},
          {"--record-start", "--record-lines"},
          {"--header,--header-mark,--zero-terminated,--resumable,--inplace,--debug", "--record-lines"},
          {"--header,--header-mark,--zero-terminated,--inplace,--debug", "--record-start"},
          {"--header,--header-mark,--zero-terminated,--resumable,--inplace,--debug", "--paragraphs"}};
}

std::vector<ConflictRow> lines_conflicts() {
  std::vector<ConflictRow> rows{
      {"-C", "--check", "options '-cC' are incompatible"},
      {"--debug", "--check", "options '-c --debug' are incompatible"},
      {"--limit", "--check", "--limit: -c sorts nothing; leave it out"},
      {"--limit", "-C", "--limit: -C sorts nothing; leave it out"},
      {"--limit", "--debug"},
      {"--debug", "-C", "options '-C --debug' are incompatible"},
      {"--debug", "--output", "options '-o --debug' are incompatible"},
      {"--output", "--check", "options '-co' are incompatible"},
      {"--output", "-C", "options '-Co' are incompatible"},
      {"-y", "", "-y is not supported: it has no meaning in sort either; leave it out, or give the memory with -S"},
      {"--resumable", "--inplace", "--inplace can be resumed anyway; leave --resumable out"},
      {"--debug", "--compress-output"},
      {"--header-mark", "--header", "--header and --header-mark both say what the header is; leave one of them out"},
      {"--header-mark", "--debug"},
      {"--claim,--split", "--debug"},
      {"--claim", "--resumable"},
      {"--claim", "--inplace"},
      {"--claim", "--split"},
      {"--claim", "--check", "--claim: -c writes nothing; `ecosort check --claim FILE` reads the claim of a file"},
      {"--claim", "-C", "--claim: -C writes nothing; `ecosort check --claim FILE` reads the claim of a file"},
      {"--split", "--resumable"},
      {"--split", "--inplace", "--split cannot be combined with --inplace: one file is sorted"},
      {"--split", "--check", "--split: -c writes nothing; leave it out"},
      {"--split", "-C", "--split: -C writes nothing; leave it out"},
      {"--stats,--events,--trace", "--check", "{}: -c does not report; `ecosort check lines --stats FILE` does"},
      {"--stats,--events,--trace", "-C", "{}: -C does not report; `ecosort check lines --stats FILE` does"},
      {"--header-mark", "--inplace", "--header-mark cannot be combined with --inplace; use ecosort lines --header-mark -o"}};
  std::ranges::copy(group_conflicts(), std::back_inserter(rows));
  std::ranges::copy(resumable_conflicts(), std::back_inserter(rows));
  std::ranges::copy(in_place_conflicts(), std::back_inserter(rows));
  return rows;
}

std::vector<OptionRow> other_options() {
  return {
      gnu({"--batch-size", "N", "as the memory allows", "merge at most N runs or files at once", Concern::how,
           sets("means.batch_size", as_batch_size)}),
      gnu({"-c,--check", "[=WORD]", "", "check for sorted input; do not sort. --check=quiet, --check=silent: as -C",
           Concern::nothing}),
      gnu({"-C", "", "", "like -c, but do not report the first line out of order", Concern::nothing}),
      gnu({"--compress-program", "PROG", "",
           "compress temporaries with PROG, decompress them with PROG -d; PROG is one file name, without arguments. 16 runs, or "
           "--batch-size, are merged at a time; whether temporaries fit is not checked before the work. For lz4 and zstd no "
           "program is started: see --compress",
           Concern::how, sets("compression.program", as_compress_program)}),
      gnu({"--debug", "", "", "underline the part of each line that is compared, and warn about questionable keys on stderr"}),
      gnu({"--files0-from", "FILE", "", "read the input files that FILE names, each name ended by NUL; `-`: from standard input",
           Concern::input, checked(as_file_name)}),
      gnu({"-k,--key", "POS1[,POS2]", "",
           "sort by a key; repeatable. POS is F[.C][OPTS]: field F, character C, options bdfghiMnRrV", Concern::rows,
           adds_to("rows.keys", as_line_key)}),
      gnu({"-m,--merge", "", "", "merge already sorted files; do not sort", Concern::how, sets("input_order", word<"believed">)}),
      gnu({"-o,--output", "FILE", "standard output", "write the result to FILE, which may be an input", Concern::output,
           sets("place.output", as_lines_output)}),
      gnu({"-s,--stable", "", "", "stabilize the sort by disabling the last-resort comparison", Concern::rows,
           sets("rows.stable", flag<true>)}),
      gnu({"-S,--buffer-size", "SIZE", "", "memory for all buffers: a number of KiB, or with b, K, M, G, T, %", Concern::memory,
           sets("means.memory_bytes", as_wished_memory, "means.memory_is_a_wish")}),
      {"--memory", "SIZE", "half of the available RAM, or the limit of the control group",
       "likewise, such as 512MiB; refused where it cannot be had, while -S takes what there is", Concern::memory,
       sets("means.memory_bytes", as_memory)},
      gnu({"-t,--field-separator", "SEP", "non-blank to blank transition", "the character between fields; '\\0' is NUL",
           Concern::rows, sets("rows.separator", as_separator)}),
      gnu({"-T,--temporary-directory", "DIR", "$TMPDIR, or beside the output", "directory for sorted runs; repeatable",
           Concern::temp, adds_to("means.temp_directories", as_text)}),
      {"--temp", "DIR", "", "the same", Concern::temp, adds_to("means.temp_directories", as_text)},
      gnu({"--parallel", "N", "the CPUs this process may use", "compute threads; `auto`: as --threads of `ecosort csv`",
           Concern::means, sets("means.threads", as_parallel)}),
      gnu({"-u,--unique", "", "", "keep the first of lines with equal keys; with -c, check for strict ordering", Concern::how,
           sets("unique", flag<true>)}),
      gnu({"-z,--zero-terminated", "", "", "lines end with NUL, not newline", Concern::rows,
           sets("rows.terminator", word<"\0">)}),
  };
}

std::vector<OptionRow> own_options() {
  return {
      {"--header", "[=N]", "1 line",
       "the first N lines of each FILE are its header: all headers must be alike, and one goes out, on top; also with -c and -m",
       Concern::how, sets("rows.header_lines", as_header_lines)},
      {"--record-lines", "N", "1",
       "N lines belong together, such as 4 of FASTQ: they are one row, which -k, -u, --count and --limit take as a line. Its "
       "fields run over the ends of its lines, which are blanks; with -t $'\\n' each line is a field: -k 2,2 is the second line",
       Concern::how, sets("rows.record_lines", as_record_lines)},
      {"--paragraphs", "", "",
       "likewise, lines up to an empty one belong together, as in LDIF; that line goes with them, and further empty lines are "
       "left out",
       Concern::how, sets("rows.paragraphs", flag<true>)},
      {"--record-start", "TEXT", "",
       "likewise, a line that begins with TEXT and those up to the next such line belong together, as `From ` of mbox or `>` of "
       "FASTA. Each FILE begins with such a line, and none holds a NUL byte",
       Concern::how, sets("rows.record_start", as_beginning)},
      {"--split", "rows=N|size=S|files=N", "",
       "write several files, which appear together; -o has {} where their names differ, such as 'out-{}.txt'. N lines each, at "
       "most "
       "S bytes each, or N files of about one size. Each has the header. A manifest, such as out-manifest.json, comes last and "
       "lists them",
       Concern::how, sets("place.split", as_text)},
      claim_option(),
      {"--header-mark", "TEXT", "",
       "the lines that each FILE begins with and that begin with TEXT are its header, as `#` in VCF and BED or `@` in SAM: as "
       "with --header all must be alike, and they go out once, on top",
       Concern::how, sets("rows.header_mark", as_beginning)},
      {"--collate", "LOCALE", "the order of bytes",
       "texts, and lines as a whole, in the order of a language, by ICU: de, sv, zh, root for that of all languages; with "
       "options "
       "as BCP 47 has them: de-u-kn-true (numbers by value), en-u-ks-level1 (letters of either case, with accents or without, "
       "are "
       "equal). UTF-8; no -d, -f, -i. Lines that are equal to the language are ordered by their bytes, where -s and -u do not "
       "say "
       "otherwise",
       Concern::rows, sets("rows.collate", as_locale)},
      limit_option(),
      by_group_option(),
  };
}

std::vector<OptionRow> job_options() {
  return {
      {"--resumable", "", "",
       "keep runs and a journal in OUTPUT.ecosort, so that `ecosort resume OUTPUT` continues after a crash; regular files only, "
       "none compressed, and no -m, -c, --debug, --trace, --compress-program, --compress-output, -T",
       Concern::job, sets("place.kind", word<"resumable">)},
      {"--inplace", "", "",
       "sort FILE in its own space (ext4 with a journal, or XFS): while it works the lines are in FILE.ecosort, and FILE is "
       "absent; `ecosort resume FILE` continues. One plain file, and no -o, -u, -m, -c, -T, --header, --debug, --trace, "
       "--batch-size, --resumable. Compressed data, archives, databases and text with NUL bytes (without -z) are refused",
       Concern::job, sets("place.kind", word<"in_place">)},
      {"--as-is", "", "", "with --inplace: sort FILE even if it does not look like text", Concern::how,
       sets("place.as_is", flag<true>)},
      gnu({"-y", "N", "", "", Concern::how, {}, false, true}),
  };
}

}  // namespace

std::vector<OptionRow> lines_options() {
  constexpr std::size_t most_options = 80;  // room that is asked for once costs the sort of a small file less than to grow
  std::vector<OptionRow> options;
  options.reserve(most_options);
  std::ranges::copy(ordering_options(), std::back_inserter(options));
  std::ranges::copy(other_options(), std::back_inserter(options));
  std::ranges::copy(own_options(), std::back_inserter(options));
  std::ranges::copy(job_options(), std::back_inserter(options));
  std::vector<OptionRow> common =
      chosen({"--io", "--verify", "--stats", "--events", "--progress", "--profile", "--no-profile", "--trace"});
  const auto rest = std::ranges::stable_partition(common, [](const OptionRow& row) {
    return row.name != "--profile" && row.name != "--no-profile" && row.name != "--trace";
  });
  common.insert(rest.begin(), {"-q,--quiet", "", "", "no notices, no progress line", Concern::report});
  std::ranges::copy(common, std::back_inserter(options));
  std::ranges::copy(run_compression_rows("auto", "rows"), std::back_inserter(options));
  std::ranges::copy(compression_rows("never", "none"), std::back_inserter(options));
  return with_groups(std::move(options),
                     {"POS1[,POS2]", "write one of several equal lines, with their number in front, as uniq -c writes it"});
}

CommandTable lines_table() {
  return {.name = "lines",
          .synopsis = "[options] [FILE...]",
          .summary = "sorts text lines with the options of GNU sort",
          .description =
              "Writes the sorted concatenation of all FILEs to standard output: the bytes that `LC_ALL=C sort` writes. The order "
              "is that of the C locale, whatever the environment says, unless --collate names a language. -k takes positions as "
              "`sort` does, and so does +N [-M].",
          .examples = {"ecosort lines log.txt -o sorted.txt                by whole lines",
                       "ecosort lines -t, -k2,2n --header data.csv         by the second column, as a number",
                       "ecosort lines -u -S 1G -T /scratch *.txt           without duplicates, in 1 GiB",
                       "ecosort lines --count log.txt                       as sort log.txt | uniq -c",
                       "ecosort lines -m part*.txt                          merges sorted files",
                       "ecosort lines --record-lines 4 in.fastq             records of four lines, by the first one",
                       "ecosort lines --record-start '>' in.fasta           sequences with their lines, by their names",
                       "ecosort lines --decompress=auto --compress-output=auto *.gz -o all.zst",
                       "ecosort lines --resumable log.txt -o sorted.txt    after a crash: ecosort resume sorted.txt",
                       "ecosort lines --inplace -k2,2n log.txt             on a drive that is nearly full"},
          .options = lines_options(),
          .operands = {{"FILE", "text; `-`, or none, is standard input. An output may replace an input"}},
          .exit_status = exit_codes({{"1", "-c or -C found lines out of order, or a wrong WORD of --sort or --check, as in sort"},
                                     {"2", "an error, printed on stderr as sort prints it"}}),
          .conflicts = lines_conflicts(),
          .format = "lines",
          .fixed = {{"place.output", "-"}},
          .is_gnu = true};
}

}  // namespace ecosort::cli
