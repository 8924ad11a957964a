"""`ecosort-cluster`, which `ecosort cluster` becomes: sort, resume, check."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from ecosort.cluster.check import check_manifest
from ecosort.cluster.formats import format_of_words, options_of
from ecosort.cluster.jobs import abandon_job, open_executor, plan_of, resume_job, start_job
from ecosort.cluster.plan_text import plan_json, plan_text
from ecosort.cluster.rates import Rates, default_profile, rates_from_profile, rates_from_text
from ecosort.cluster.report import ClusterReport, stage_table
from ecosort.cluster.scheduler import Observe, PhaseState
from ecosort.cluster.spec import JobSpec, job_spec
from ecosort.cluster.timeline import timeline_svg
from ecosort.command_ends import Interrupted, code_of, interruptible, told
from ecosort.errors import BadInput, EcoSortError
from ecosort.remote.s3_inputs import MANIFEST
from ecosort.request import FORMATS
from ecosort.text import size_text
from ecosort.words import bytes_of

_SHORT = {"--key": "-k", "--field-separator": "-t"}
_PLAN_FORMS = ("text", "json")

_SORT_ENDING = """\
examples:
  ecosort cluster sort --format records --record-size 100 --key 0:10 --nodes-temp /n1 --nodes-temp /n2 in.dat -o sorted
  ecosort cluster sort --format csv --by price:number:desc --on ray --nodes-temp /lustre/tmp shop*.csv -o by-price
  ecosort cluster sort --plan --rates read=500,write=400,network=1250 --format lines log*.txt -o planned
"""


class _FormatWord(argparse.Action):
    """Collects the options of the format as words of the program, in their order."""

    def __call__(self, parser: Any, namespace: Any, value: Any, option: str | None = None) -> None:
        name = self.option_strings[-1]
        namespace.words = [*namespace.words, name if self.nargs == 0 else f"{name}={value}"]


class _Parser(argparse.ArgumentParser):
    """One line about what is wrong."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def _parser(command: str | None) -> argparse.ArgumentParser:
    """The options of the formats, which the program lists, are there for `sort` alone."""
    parser = _Parser(prog="ecosort cluster", description="Sorts files on several nodes.", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_sort(commands, without_formats=command != "sort")
    resume = commands.add_parser("resume", help="continue with a sort that did not end", allow_abbrev=False)
    resume.add_argument("output", metavar="OUTPUT", help="the directory that the sort writes; of s3://, its directory .ecosort")
    resume.add_argument("--abandon", action="store_true", help="end the sort for good: remove what it made, and no input")
    _add_telling(resume)
    check = commands.add_parser("check", help="verify counts, hashes and order of all parts", allow_abbrev=False)
    check.add_argument("manifest", metavar="MANIFEST", help="MANIFEST.json, or the directory or s3:// that has it")
    check.add_argument(
        "--scratch",
        default="/tmp",
        metavar="DIR",
        help="directory for a small file, and for one part of a bucket at a time (default: /tmp)",
    )
    check.add_argument(
        "-q", "--quiet", action="store_true", help="no report; the exit code says the result, and one line what is wrong"
    )
    return parser


def _add_sort(commands: Any, *, without_formats: bool) -> None:
    sort = commands.add_parser(
        "sort",
        help="sort files into a directory of parts",
        epilog=_SORT_ENDING,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = sort.add_argument
    add(
        "inputs",
        nargs="+",
        metavar="INPUT",
        help="a regular file that all nodes can read, NODE:/path of one node's, or an address: http://, https://, s3://; "
        "of s3:// also a prefix that ends with a slash, or a pattern",
    )
    add(
        "-o",
        "--output",
        required=True,
        metavar="DIR",
        help="not there yet, or empty, or s3://BUCKET/PREFIX: gets the parts and MANIFEST.json",
    )
    add("--format", required=True, choices=FORMATS)
    add("--on", default="local", help="local (processes of this machine), ray, or ray://HEAD[:PORT] (default: local)")
    add("--nodes-temp", action="append", default=[], metavar="DIR", help="directory for the slices of a node; one for each node")
    add("--workers", type=int, default=1, metavar="N", help="tasks at a time on a node (default: 1)")
    add("--threads", type=int, metavar="N", help="threads of a task (default: the CPUs, divided among nodes and workers)")
    add("--memory", default="512MiB", metavar="SIZE", help="memory of a task (default: 512MiB)")
    add("--parts", type=int, metavar="N", help="number of parts (default: as few as a task can merge or sort in one pass)")
    add("--single", action="store_true", help="OUTPUT becomes one file, which is not there yet, instead of a directory of parts")
    add("--no-conditional-put", action="store_true", help="for a server of s3:// that does not support If-None-Match")
    add("--seed", type=int, default=1, metavar="N", help="seed of the sample (default: 1)")
    add("--plan", choices=_PLAN_FORMS, nargs="?", const=_PLAN_FORMS[0], help="print what would be done, and do nothing")
    add("--rates", metavar="NAME=MB/s,...", help="rates of a node, to predict the time in --plan: read, write, network, sort...")
    add("--profile", metavar="FILE", help="profile of a node, for --plan (default: that of this user, if ecosort tune made one)")
    add("--no-profile", action="store_true", help="use no profile")
    _add_telling(sort)
    words = sort.add_argument_group("options of the formats, as in ecosort sort, lines, csv, jsonl")
    known = {} if without_formats else {option.names[-1]: option.takes_value for of in FORMATS for option in options_of(of)}
    for option, takes_value in known.items():
        names = [name for name in (_SHORT.get(option), option) if name]
        taken = {"metavar": "VALUE"} if takes_value else {"nargs": 0}
        words.add_argument(*names, action=_FormatWord, dest="words", default=[], **taken)


def _add_telling(command: argparse.ArgumentParser) -> None:
    command.add_argument("--timeline", metavar="FILE", help="draw the tasks of all nodes (SVG)")
    command.add_argument("-q", "--quiet", action="store_true", help="no progress, no table")


class Progress:
    """A line on a terminal, rewritten at most ten times a second; elsewhere a line for each phase that has ended."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._next_s = 0.0

    def __call__(self, state: PhaseState) -> None:
        if state.done < state.tasks and (not self._is_terminal or time.monotonic() < self._next_s):
            return
        self._next_s = time.monotonic() + 0.1
        line = phase_line(state)
        if self._is_terminal:  # cut to the width, so that it stays one line
            line = f"\r\033[K{line[: shutil.get_terminal_size().columns - 1]}"
        with contextlib.suppress(OSError):  # no one reads any more: the sort continues
            print(line, end="\n" if state.done == state.tasks else "", file=sys.stderr, flush=True)


def phase_line(state: PhaseState) -> str:
    """A bar, tasks, and MB/s of all and of each node, as far as tasks are done."""
    filled = 20 * state.done // state.tasks
    rates = {node: size / 1e6 / max(state.seconds, 1e-9) for node, size in sorted(state.bytes_by_node.items())}
    nodes = ", ".join(f"{node[:12]} {rate:.0f}" for node, rate in rates.items())
    bar = "#" * filled + "." * (20 - filled)
    return f"{state.phase:<9} [{bar}] {state.done}/{state.tasks}  {sum(rates.values()):.0f} MB/s" + (
        f" ({nodes})" if nodes else ""
    )


def _spec(words: argparse.Namespace) -> JobSpec:
    return job_spec(
        words.inputs,
        words.output,
        form=format_of_words(words.format, words.words),
        on=words.on,
        temps=words.nodes_temp,
        workers=words.workers,
        threads=words.threads,
        memory_bytes=bytes_of(words.memory, "--memory"),
        parts=words.parts,
        seed=words.seed,
        single=words.single,
        conditional_put=not words.no_conditional_put,
    )


def _sort(words: argparse.Namespace) -> None:
    spec = _spec(words)
    _demand_place_of_timeline(words)
    words.job, words.again = spec.job_directory, spec.resume_name
    if not words.plan and (words.rates or words.profile):
        raise BadInput("--rates and --profile are for --plan")
    rates, source = _rates(words) if words.plan else (None, "")
    if words.plan:
        with contextlib.closing(open_executor(spec)) as executor:
            shape = plan_of(spec, executor)
        print(json.dumps(plan_json(shape, rates), indent=1) if words.plan == "json" else plan_text(shape, rates, source))
        return
    _tell(words, start_job(spec, *_observer(words)), spec.threads)


def _rates(words: argparse.Namespace) -> tuple[Rates | None, str]:
    """Returns those of a node, and where they come from: the profile of this user, and what --rates says instead."""
    if words.profile and words.no_profile:
        raise BadInput("--profile and --no-profile contradict each other; leave one of them out")
    profile = Path(words.profile) if words.profile else None if words.no_profile else default_profile()
    base = rates_from_profile(profile) if profile else None
    rates = rates_from_text(words.rates, base) if words.rates else base
    return rates, " and ".join([*([f"the drives of '{profile}'"] if profile else []), *(["--rates"] if words.rates else [])])


def _demand_place_of_timeline(words: argparse.Namespace) -> None:
    """It replaces nothing, and is in nothing that the sort makes."""
    if not words.timeline:
        return
    path = Path(words.timeline)
    if os.path.lexists(path):
        raise BadInput(f"--timeline '{path}' is there already; name a file that is not")
    if not os.access(path.absolute().parent, os.W_OK | os.X_OK):
        raise BadInput(f"--timeline '{path}': name a file in a directory that is there, and can be written")
    output, drawn = Path(words.output.removesuffix(".ecosort")).resolve(), path.resolve()
    made = [output, *(output.with_name(f"{output.name}.{ending}") for ending in ("ecosort", MANIFEST))]
    if drawn in made or drawn.parent in made:
        raise BadInput(f"--timeline '{path}' is a place of the output; name another file")


def _observer(words: argparse.Namespace) -> list[Observe]:
    return [] if words.quiet else [Progress()]


def _resume(words: argparse.Namespace) -> None:
    _demand_place_of_timeline(words)
    if words.abandon:
        abandon_job(words.output)
    else:
        words.again = words.output
        _tell(words, resume_job(words.output, *_observer(words)), 1)


def _tell(words: argparse.Namespace, report: ClusterReport, threads: int) -> None:
    if words.timeline:
        with Path(words.timeline).open("x") as file:
            file.write(timeline_svg(report))
    if words.quiet:
        return
    moved = f"{report.bytes_moved / report.input_bytes:.3f} bytes moved per byte, " if report.rows else ""
    largest = f", largest {report.imbalance:.3f} of mean" if report.parts > 1 else ""
    lines = (
        f"{_counted(report.rows, 'row')}: {size_text(report.output_bytes)} in {_counted(report.parts, 'part')}{largest}",
        f"{report.wall_s:.2f} s, {report.cpu_s:.2f} CPU-s, {moved}{report.attempts} attempts for {report.tasks} tasks",
        stage_table(report, threads),
    )
    with contextlib.suppress(OSError):
        print(*lines, sep="\n", file=sys.stderr)


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"


def _check(words: argparse.Namespace) -> None:
    manifest = check_manifest(words.manifest, Path(words.scratch))
    if words.quiet:
        return
    held = f"{_counted(manifest.rows, 'row')} in {_counted(len(manifest.parts), 'part')}"
    print(f"{held}, {manifest.bytes} bytes, hash {manifest.hash}: complete and in order")


def completions(words: Sequence[str]) -> list[str]:
    """Lists what may follow the words of `ecosort-cluster WORDS...`: commands, or options of the command."""
    actions = [
        action for action in _parser(words[0] if words else None)._actions if isinstance(action, argparse._SubParsersAction)
    ]
    commands = actions[0].choices
    if not words or words[0] not in commands:
        return list(commands)
    return [option for action in commands[words[0]]._actions for option in action.option_strings if option.startswith("--")]


def _complete() -> int:
    """Answers a shell that `ecosort manual` made a completion for, as click does: the last word begins what is proposed."""
    words = os.environ.get("COMP_WORDS", "").split()[1:]
    at = os.environ.get("COMP_CWORD", "")
    count = int(at) - 1 if at.isdecimal() else len(words)
    begin = words[count] if at.isdecimal() and count < len(words) else "" if at.isdecimal() else at
    for word in completions(words[:count]):
        if word.startswith(begin) and (begin.startswith("-") or not word.startswith("-")):
            print(f"plain,{word}")
    return 0


def _with_form_of_plan(arguments: Sequence[str]) -> list[str]:
    """An input may follow `--plan`, whose form is left out then."""
    words = list(arguments)
    for place, word in enumerate(words):
        if word == "--":
            break
        if word == "--plan" and not {*words[place + 1 : place + 2]} & {*_PLAN_FORMS}:
            words[place] = f"--plan={_PLAN_FORMS[0]}"
    return words


def _tell_interruption(words: argparse.Namespace, error: KeyboardInterrupt) -> int:
    """Says how it continues, where a job is left."""
    is_left = "again" in words and ("job" not in words or (words.job / "journal").exists())
    how = f"; `ecosort cluster resume {words.again}` continues" if is_left else ""
    begin = "\n" if sys.stderr.isatty() else ""  # behind the line of the progress
    with contextlib.suppress(OSError):
        print(f"{begin}ecosort cluster: interrupted{how}", file=sys.stderr)
    return 128 + (error.number if isinstance(error, Interrupted) else signal.SIGINT)


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes as those of the program: 0 done, 1 verification, 2 usage and bad input, 3 I/O, 4 others, 128 + a signal."""
    if "_ECOSORT_CLUSTER_COMPLETE" in os.environ:
        return _complete()
    given = sys.argv[1:] if arguments is None else arguments
    words = argparse.Namespace()
    try:
        words = _parser(given[0] if given else None).parse_args(_with_form_of_plan(given))
        with interruptible():
            {"sort": _sort, "resume": _resume, "check": _check}[words.command](words)
    except KeyboardInterrupt as error:
        return _tell_interruption(words, error)
    except (EcoSortError, OSError) as error:
        with contextlib.suppress(OSError):
            print(f"ecosort cluster: {told(error)}", file=sys.stderr)
        return code_of(error)
    return 0
