#include "cli/tables/tables.h"

namespace ecosort::cli {

CommandTable power_table() {
  return {.name = "power",
          .synopsis = "COMMAND ...",
          .summary = "measures the energy of a sort with a real meter (ecosort-power)",
          .description =
              "Runs the program ecosort-power with the words that follow; it explains itself with --help; `ecosort power COMMAND "
              "--help` lists the options of a command.",
          .examples = {"ecosort power meters                            what can be read on this machine",
                       "ecosort power run --runs 5 --meter ipmi:local -- ecosort sort in.dat -o out.dat"},
          .options = {},
          .operands = {{"meters", "what can be read on this machine, and the meters that are configured"},
                       {"doctor", "whether everything is ready: watts now, period, clocks, rights"},
                       {"probe", "measures a meter itself: how often its value changes, its steps, its lag"},
                       {"run", "measures a command: idle watts, then joules of each run, from process start to exit"},
                       {"joulesort", "makes a whole JouleSort entry"},
                       {"check", "validates a stored result again from its raw readings"},
                       {"attach", "adds a meter's own log to a stored result"},
                       {"report", "shows a result as a table, JSON, CSV or Markdown"},
                       {"compare", "compares two results, with the interval of their ratio"}},
          .ending = ""};
}

CommandTable tune_table() {
  return {.name = "tune",
          .synopsis = "COMMAND ...",
          .summary = "probes this machine, searches its best settings, predicts, compares measurements (ecosort-tune)",
          .description =
              "Runs the program ecosort-tune with the words that follow; it explains itself with --help; `ecosort tune COMMAND "
              "--help` lists the options of a command.",
          .examples = {"ecosort tune probe --temp /ssd/tmp              what its drive and processor can do, as a profile",
                       "ecosort tune search --goal time --size 4GB --memory 512MiB --budget 20min --dir /ssd/tmp",
                       "ecosort tune compare before.json after.json    is the difference of two benchmarks more than noise?"},
          .options = {},
          .operands = {{"probe", "measures the drives of directories, and the processor, and writes a profile"},
                       {"fit", "fits the models of a profile to runs that were measured"},
                       {"show", "shows a profile"},
                       {"predict", "predicts time, processor time and joules of a plan"},
                       {"validate", "holds predictions against measurements"},
                       {"search", "searches the options that take the least time or energy"},
                       {"settings", "runs a command under other settings of the system"},
                       {"restore", "puts back the settings of the system that a killed `ecosort tune settings` left"},
                       {"experiment", "time of both phases against one option, as a chart"},
                       {"compare", "compares two files of results of the benchmark"}},
          .ending = ""};
}

CommandTable joulesort_table() {
  return {.name = "joulesort",
          .synopsis = "CLASS --meter M [OPTIONS] [-- OPTIONS OF SORT]",
          .summary = "makes a whole JouleSort entry: input, five cold runs, validation, submission (ecosort-power)",
          .description = "Runs `ecosort-power joulesort` with the words that follow; it explains itself with --help.",
          .examples = {"ecosort joulesort 1e8 --meter shelly://192.0.2.5 --data /mnt/ssd",
                       "ecosort joulesort --records auto --meter shelly://192.0.2.5   a rehearsal, never ranked"},
          .options = {{"--meter", "METER", "", "a meter, or `auto`; several are read side by side"},
                      {"--sum", "", "", "the result is the sum of the meters (several power supplies)"},
                      {"--category", "daytona|indy", "daytona", "of the Sort Benchmark"},
                      {"--records", "N|auto", "",
                       "rehearse with N records, or as few as the meter needs; a rehearsal is never ranked"},
                      {"--runs", "N", "5", "how often; at least 5, but for a rehearsal"},
                      {"--dir", "DIR", "joulesort-CLASS-CATEGORY", "where the entry is made"},
                      {"--data", "DIR", "that of the entry", "where input and output are, on the drive that counts"},
                      {"--ambient", "CELSIUS", "", "temperature of the room, for the report"},
                      {"--idle", "SECONDS", "30", "of idle baseline before and after all runs"},
                      {"--pause", "SECONDS", "5", "of idleness right before each run"},
                      {"--settle", "SECONDS", "60", "longest wait for the drives to rest; 0: none"},
                      {"--probe", "SECONDS", "", "of a busy and idle pattern that finds the meters' lag before the runs"},
                      {"--repeat-invalid", "", "", "measure invalid runs again; the old ones are kept and reported"},
                      {"--predict", "", "", "only say what 10^8 to 10^10 records, or CLASS, would take here"},
                      {"--profile", "FILE", "~/.config/ecosort/profile.toml", "the profile to predict by"},
                      {"--watts", "WATTS", "the profile's", "mean power at the wall to predict with"},
                      {"--config", "FILE", "~/.config/ecosort/meters.toml", "named meters"}},
          .operands = {},
          .ending = ""};
}

CommandTable cluster_table() {
  return {.name = "cluster",
          .synopsis = "COMMAND ...",
          .summary = "sorts files on several nodes, into parts with a manifest (ecosort-cluster)",
          .description =
              "Runs the program ecosort-cluster with the words that follow; it explains itself with --help; `ecosort cluster "
              "COMMAND --help` lists the options of a command.",
          .examples = {"ecosort cluster sort --format csv --by when:date --on ray --nodes-temp /lustre/tmp *.csv -o sorted",
                       "ecosort cluster sort --plan --format lines log*.txt -o sorted    what would be done",
                       "ecosort cluster resume sorted                   continues after a crash of a worker, a node, or itself",
                       "ecosort cluster check sorted                    counts, hashes and order of all parts"},
          .options = {},
          .operands = {{"sort", "sorts files into a directory of parts, a file, or a bucket"},
                       {"resume", "continues with a sort that did not end"},
                       {"check", "verifies counts, hashes and order of all parts"}},
          .ending = ""};
}

CommandTable queue_table() {
  return {.name = "queue",
          .synopsis = "COMMAND ...",
          .summary = "queues sorts to be done, tonight or every night (ecosort-appliance)",
          .description =
              "Runs `ecosort-appliance queue` with the words that follow; it explains itself with --help; `ecosort queue COMMAND "
              "--help` lists the options of a command.",
          .examples = {"ecosort queue add --at 02:00 -- sort huge.dat -o sorted.dat",
                       "ecosort queue list                              what waits, works, and ended lately"},
          .options = {},
          .operands = {{"add", "queues a job and prints its number"},
                       {"list", "lists jobs that wait, run, or ended lately"},
                       {"show", "prints everything about one job"},
                       {"log", "prints what the program of a job wrote"},
                       {"cancel", "ends a job and removes its files; a file in place gets its records back"},
                       {"retry", "does a failed or cancelled job once more"},
                       {"pause", "pauses a job, or without a number the start of all"},
                       {"resume", "continues with a paused job, or without a number with all"},
                       {"value", "says where a value for --when comes from, or prints all values as they are now"},
                       {"report", "prints jobs, bytes, hours and joules of a month, by day"},
                       {"run", "runs the jobs that are due, without a service, and ends"}},
          .ending = ""};
}

CommandTable serve_table() {
  return {.name = "serve",
          .synopsis = "[OPTIONS]",
          .summary = "runs the queued sorts and shows them on a page (ecosort-appliance)",
          .description = "Runs `ecosort-appliance serve` with the words that follow; it explains itself with --help.",
          .examples = {"ecosort serve                                   the page is at http://127.0.0.1:8080/",
                       "ecosort serve --meter shelly://192.0.2.5        with watts and joules"},
          .options = {{"--listen", "HOST:PORT", "127.0.0.1:8080", "where the page is"},
                      {"--host", "NAME", "",
                       "a name by which the page may be asked for, also by a proxy; may be given several times"},
                      {"--root-path", "PATH", "", "the path below which a proxy has the page"},
                      {"--token-file", "FILE", "", "holds the token that a browser must know; made if it does not exist"},
                      {"--files", "DIR", "", "files in it can be sorted from the page; may be given several times"},
                      {"--files-user", "NAME", "", "of root's service: who reads these files, and whose the jobs are"},
                      {"--no-page", "", "", "run the queued jobs, and show no page"},
                      {"--meter", "METER", "", "as for ecosort power: watts and joules of each job"},
                      {"--config", "FILE", "~/.config/ecosort/meters.toml", "named meters"},
                      {"--keep-days", "DAYS", "90", "keep jobs that ended for so many days"},
                      {"--keep-jobs", "N", "1000", "keep at most so many jobs that ended"},
                      {"--after", "suspend|poweroff", "", "suspend or power off the machine when nothing is left to do"},
                      {"--end-jobs", "", "", "end running jobs when the service ends; the next service continues them"}},
          .operands = {},
          .ending = ""};
}

CommandTable manual_table() {
  return {.name = "manual",
          .synopsis = "man [COMMAND] | bash | fish | json | request",
          .summary = "prints a man page, the completion of a shell, or all options as JSON",
          .description = "",
          .examples = {"ecosort manual man | man -l -                   read it",
                       "ecosort manual man lines | man -l -             the page of a command",
                       "source <(ecosort manual bash)                   complete options and values in this shell"},
          .options = {},
          .operands = {{"man", "the man page ecosort(1), or with COMMAND that of a command, such as ecosort-sort(1)"},
                       {"bash", "completion for bash; zsh reads it, too, after `autoload -U bashcompinit && bashcompinit`"},
                       {"fish", "completion for fish"},
                       {"json", "all commands with their options, for programs (docs/json.md)"},
                       {"request", "the JSON schema of a request, as the library takes it"}},
          .ending = "",
          .exit_status = {{"0", "done"}, {"2", "wrong usage"}, {"3", "it could not be written"}}};
}

}  // namespace ecosort::cli
