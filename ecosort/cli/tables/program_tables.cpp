#include "cli/tables/program_tables.h"

namespace ecosort::cli {

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

}  // namespace ecosort::cli
