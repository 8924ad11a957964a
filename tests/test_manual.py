"""The man page and the completions: made from the option tables, and read by the programs that they are for."""

import contextlib
import json
import os
import pty
import re
import subprocess
import termios
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BUILD, ROOT

Run = Callable[..., subprocess.CompletedProcess[str]]
COMMANDS = [
    "sort",
    "inplace",
    "resume",
    "lines",
    "csv",
    "jsonl",
    "parquet",
    "shuffle",
    "merge",
    "sample",
    "partition",
    "plan",
    "run",
    "request",
    "gen",
    "check",
    "manual",
]
# Commands that are programs of their own and explain themselves.
PROGRAMS = ["power", "tune", "joulesort", "cluster", "queue", "serve"]


PLANS = ["plan sort", "plan inplace", "plan lines", "plan partition", "plan run", "plan shuffle"]


def options_in_help(run: Run, command: str) -> set[str]:
    """The long and short options that the help of a command explains (at the start of a line)."""
    text = run(*command.split(), "--help").stdout
    lines = re.findall(r"^  (-.*)$", text, re.MULTILINE)
    return {
        word for line in lines for word in re.findall(r"(?:^|, )(--?[A-Za-z][a-z0-9-]*)", re.sub(r"^(-[a-z])N\b", r"\1", line))
    }


def test_every_command_is_explained_and_can_be_asked(run: Run) -> None:
    overview = run("--help").stdout
    for command in COMMANDS:
        assert re.search(rf"^  {command} +\w", overview, re.MULTILINE)
        done = run(command, "--help")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("Examples\n")
        assert f"\nUsage\n  ecosort {command} " in done.stdout
        assert "--help" in options_in_help(run, command)


def typeset(page: str) -> str:
    """Returns what man shows; it had nothing to complain about."""
    done = subprocess.run(
        ["groff", "-ww", "-man", "-Tutf8", "-P-cbou", "-rLL=140n"], input=page, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    # roff would have eaten backslashes, dots and quotes at the start of a line.
    assert "`" not in done.stdout
    return re.sub(r"[\u2010\u2212]", "-", done.stdout)


SECTIONS = ("NAME", "SYNOPSIS", "DESCRIPTION", "FILES", "ENVIRONMENT", "EXIT STATUS", "EXAMPLES", "SEE ALSO")


def test_the_overview_leads_to_the_pages_of_all_commands(run: Run) -> None:
    text = typeset(run("manual", "man").stdout)
    for section in (*SECTIONS, "COMMANDS"):
        assert re.search(rf"^{section}$", text, re.MULTILINE), section
    for command in [*COMMANDS, *PROGRAMS]:
        assert len(re.findall(rf"ecosort-{command}\(1\)", text)) == 2, command


def test_an_installation_gets_the_pages_of_all_commands(ecosort: Path, tmp_path: Path) -> None:
    """`make install` and the tarball call this."""
    subprocess.run([ROOT / "packaging/manuals", tmp_path / "man1", ecosort], check=True)
    pages = {path.name for path in (tmp_path / "man1").iterdir() if path.stat().st_size > 0}
    assert pages == {"ecosort.1", *(f"ecosort-{command}.1" for command in (*COMMANDS, *PROGRAMS))}


@pytest.mark.parametrize("command", [*COMMANDS, *PROGRAMS])
def test_every_command_has_a_page_with_its_options(run: Run, command: str) -> None:
    text = typeset(run("manual", "man", command).stdout)
    assert re.search(rf"^ +ecosort-{command} - \w", text, re.MULTILINE)
    for section in SECTIONS:
        assert section == "FILES" or re.search(rf"^{section}$", text, re.MULTILINE), section
    for kind in [command, *(PLANS if command == "plan" else [])] if command in COMMANDS else []:
        for option in options_in_help(run, kind) - {"--help"}:
            assert re.search(rf"^ +(-\w, )?{option}", text, re.MULTILINE), option
    if command in ("sort", "inplace"):  # the table of key types is one
        assert re.search(r"^ +dec {3,}a +decimal +number", text, re.MULTILINE)
        assert re.search(r"^ +nocase {3,}the same", text, re.MULTILINE)


def test_plan_tells_what_changes_its_answer(run: Run) -> None:
    assert options_in_help(run, "plan") == {"--help"}
    sort, inplace, lines = (options_in_help(run, plan) for plan in PLANS[:3])
    assert {"--memory", "--temp", "--assume-size", "--json", "--resumable"} <= sort
    assert not {"--stats", "--events", "--trace", "--progress", "--verify", "--unique", "--stable", "--space"} & sort
    assert {"--space", "--assume-size"} <= inplace
    assert not {"--temp", "--output", "--stats", "--request-size"} & inplace
    assert {"--buffer-size", "--assume-size", "--compress-program"} <= lines
    assert not {"--numeric-sort", "--debug", "--check", "--stats"} & lines


@pytest.mark.parametrize("columns", [40, 60, 80, 132, 250])
def test_help_fits_the_width(run: Run, columns: int) -> None:
    for words in ([], *([command] for command in COMMANDS), *(plan.split() for plan in PLANS)):
        text = run(*words, "--help", env={**os.environ, "COLUMNS": str(columns)}).stdout
        too_long = [line for line in text.splitlines() if len(line) > columns and " " in line.strip()]
        assert too_long == [], words
    wide = {width: run("sort", "--help", env={**os.environ, "COLUMNS": str(width)}).stdout for width in (40, 80)}
    assert wide[40].count("\n") > wide[80].count("\n")
    assert wide[40].replace(" \\\n", "\n").split() == wide[80].replace(" \\\n", "\n").split()
    without = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    assert run("sort", "--help", env=without).stdout == wide[80]


def test_help_fits_the_terminal(ecosort: Path) -> None:
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 50))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    with subprocess.Popen([ecosort, "gen", "--help"], stdout=theirs, env=environment):
        os.close(theirs)
        text = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while piece := os.read(ours, 65536):
                text += piece
    os.close(ours)
    lines = text.decode().splitlines()
    assert 44 < max(map(len, lines)) <= 50


def complete_in_bash(run: Run, script_directory: Path, *words: str) -> set[str]:
    """Returns what bash would propose for the last word of `ecosort WORDS`."""
    script = script_directory / "completion.bash"
    script.write_text(run("manual", "bash").stdout)
    ask = """
        source "$1"; shift
        COMP_WORDS=("$ECOSORT" "$@"); COMP_CWORD=$#
        _ecosort ecosort "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    command = ["bash", "--norc", "-c", ask, "bash", str(script), *words]
    environment = {**os.environ, "ECOSORT": str(BUILD / "ecosort")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=script_directory, env=environment, check=True)
    assert done.stderr == ""
    return set(done.stdout.split("\n")) - {""}


def test_bash_proposes_commands(run: Run, tmp_path: Path) -> None:
    assert complete_in_bash(run, tmp_path, "") == {*COMMANDS, *PROGRAMS, "--help", "--version"}
    assert complete_in_bash(run, tmp_path, "so") == {"sort"}
    assert complete_in_bash(run, tmp_path, "plan", "") == {
        "sort",
        "inplace",
        "lines",
        "csv",
        "jsonl",
        "partition",
        "run",
        "shuffle",
    }
    assert complete_in_bash(run, tmp_path, "manual", "") == {"man", "bash", "fish", "json", "request"}


@pytest.mark.parametrize("command", [*(command for command in COMMANDS if command != "plan"), *PLANS])
def test_bash_proposes_the_options_of_the_help(command: str, run: Run, tmp_path: Path) -> None:
    words = [*command.split(), "-"] if command in PLANS else [command, "x", "-"]
    assert complete_in_bash(run, tmp_path, *words) == options_in_help(run, command)


@pytest.mark.parametrize(("program", "command"), [("power", "report"), ("tune", "probe")])
def test_shells_propose_what_power_and_tune_take(run: Run, tmp_path: Path, program: str, command: str) -> None:
    (tmp_path / "a file").write_text("")
    assert complete_in_bash(run, tmp_path, program, command[:3]) == {command}
    assert command in complete_in_bash(run, tmp_path, program, "")
    options = re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", run(program, command, "--help").stdout, re.MULTILINE)
    assert set(options) <= complete_in_bash(run, tmp_path, program, command, "--")
    if program == "power":
        assert "--meter" in complete_in_bash(run, tmp_path, "joulesort", "--m")
        assert "a file" in complete_in_bash(run, tmp_path, program, command, "a")


def test_bash_proposes_what_cluster_takes(run: Run, tmp_path: Path) -> None:
    assert complete_in_bash(run, tmp_path, "cluster", "") == {"sort", "resume", "check"}
    options = re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", run("cluster", "sort", "--help").stdout, re.MULTILINE)
    assert {"--nodes-temp", "--by"} <= set(options) <= complete_in_bash(run, tmp_path, "cluster", "sort", "--")


def test_shells_propose_what_queue_and_serve_take(
    run: Run, tmp_path: Path, ecosort: Path, require: Callable[[str], None]
) -> None:
    assert complete_in_bash(run, tmp_path, "queue", "ad") == {"add"}
    assert {"--at", "--every", "--watch"} <= complete_in_bash(run, tmp_path, "queue", "add", "--")
    assert complete_in_bash(run, tmp_path, "serve", "--tok") == {"--token-file"}
    require("fish")
    assert {"add", "list", "run"} <= complete_in_fish(run, tmp_path, f"{ecosort} queue ")
    assert "--listen" in complete_in_fish(run, tmp_path, f"{ecosort} serve --l")


def test_fish_proposes_what_power_and_tune_take(run: Run, tmp_path: Path, ecosort: Path, require: Callable[[str], None]) -> None:
    require("fish")
    assert {"run", "report", "meters"} <= complete_in_fish(run, tmp_path, f"{ecosort} power ")
    assert "--format" in complete_in_fish(run, tmp_path, f"{ecosort} power report --f")
    assert complete_in_fish(run, tmp_path, "ecosort plan sort --ass") == {"--assume-ratio", "--assume-size"}


def test_bash_proposes_values(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("")
    (tmp_path / "a directory").mkdir()
    assert complete_in_bash(run, tmp_path, "sort", "--io", "") == {"auto", "uring", "pool", "stxxl"}
    assert complete_in_bash(run, tmp_path, "sort", "--io", "=", "p") == {"pool"}
    assert complete_in_bash(run, tmp_path, "sort", "--io", "=") == {"auto", "uring", "pool", "stxxl"}
    assert complete_in_bash(run, tmp_path, "sort", "a") == {"a file", "a directory"}
    assert complete_in_bash(run, tmp_path, "sort", "-o", "a") == {"a file", "a directory"}
    assert complete_in_bash(run, tmp_path, "sort", "--temp", "a") == {"a directory"}
    assert complete_in_bash(run, tmp_path, "sort", "--memory", "") == set()
    assert "gzip" in complete_in_bash(run, tmp_path, "lines", "--compress-program", "=", "gzi")


def complete_in_fish(run: Run, directory: Path, line: str) -> set[str]:
    script = directory / "completion.fish"
    script.write_text(run("manual", "fish").stdout)
    command = ["fish", "--no-config", "-c", f"source '{script}'; complete -C '{line}'"]
    environment = {"HOME": str(directory), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=directory, env=environment, check=True)
    assert done.stderr == ""
    return {proposal.split("\t")[0] for proposal in done.stdout.splitlines()}


def test_fish_proposes_commands_options_and_values(run: Run, tmp_path: Path, require: Callable[[str], None]) -> None:
    require("fish")
    assert complete_in_fish(run, tmp_path, "ecosort ") >= {*COMMANDS, *PROGRAMS}
    assert complete_in_fish(run, tmp_path, "ecosort manual ") >= {"man", "bash", "fish"}
    assert complete_in_fish(run, tmp_path, "ecosort sort --io ") == {"auto", "uring", "pool", "stxxl"}
    long_options = {option for option in options_in_help(run, "sort") if option.startswith("--")} - {"--help"}
    assert complete_in_fish(run, tmp_path, "ecosort sort --") >= long_options


def test_the_json_has_the_options_of_the_help(run: Run) -> None:
    """The queue and the cluster read this; a conflict is of options that the command has."""
    tables = {table["name"]: table for table in json.loads(run("manual", "json").stdout)["commands"]}
    assert set(tables) == {*COMMANDS, *PROGRAMS, *PLANS, "plan csv", "plan jsonl"}
    for command in [*COMMANDS, *PLANS]:
        options = tables[command]["options"]
        shown = {name for option in options if not option["hidden"] for name in option["names"]}
        assert shown == options_in_help(run, command)
        last = {option["names"][-1] for option in options}
        for conflict in tables[command]["conflicts"]:
            assert {conflict["option"], conflict["with"] or "--help"} <= last
            assert conflict["why"]
    (compress,) = [option for option in tables["lines"]["options"] if option["names"] == ["--compress"]]
    assert compress["values"] == ["auto", "none", "prefix", "lz4", "zstd"]
    assert (compress["repeatable"], compress["concerns"]) == (False, "how")


# Options of the run, and those that a command reads or refuses by itself.
WITHOUT_MEMBER = {
    "--help", "--stats", "--events", "--trace", "--progress", "--quiet", "--profile", "--no-profile", "--goal", "--json",
    "--assume-size", "--stable", "--check", "-C", "--debug", "--files0-from", "-y", "--lines", "--runs",
    "--append-rest", "--status", "--abandon", "--trust-owner", "--trust-drive",
}  # fmt: skip


def test_options_set_members_of_a_request_that_there_are(run: Run) -> None:
    """An option whose row says neither would be read, and mean nothing."""
    schema = json.loads(run("manual", "request").stdout)
    for table in json.loads(run("manual", "json").stdout)["commands"]:
        if table["name"].split()[-1] not in ("sort", "inplace", "resume", "lines", "csv", "jsonl", "merge"):
            continue
        refused = {conflict["option"] for conflict in table["conflicts"] if not conflict["with"]}
        for option in table["options"]:
            if option["sets"] is None:
                assert option["names"][-1] in WITHOUT_MEMBER | refused
                continue
            members = schema["properties"]
            for name in option["sets"].split(".")[:-1]:
                members = members[name]["properties"]
            assert option["sets"].split(".")[-1] in members, option


def test_lines_knows_the_options_of_its_table(run: Run) -> None:
    """Its words are split by getopt: names, and whether a value follows."""
    (table,) = [table for table in json.loads(run("manual", "json").stdout)["commands"] if table["name"] == "lines"]
    for option in table["options"]:
        for name in option["names"]:
            if option["argument"] and not option["argument_is_optional"]:
                assert "requires an argument" in run("lines", name).stderr, name
            else:
                assert run("lines", name, "--help").returncode == 0, name
    assert run("lines", "--header=1", "--check=quiet", "--help").returncode == 0


def test_the_schema_of_a_request_is_printed(run: Run) -> None:
    schema = json.loads(run("manual", "request").stdout)
    assert (schema["title"], "inputs" in schema["properties"]) == ("ecosort.request/1", True)


def test_an_unknown_manual_is_refused_with_those_there_are(run: Run) -> None:
    for words in ([], ["zsh"], ["man", "bash"]):
        done = run("manual", *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert "man|bash|fish" in done.stderr
        assert done.stderr.count("\n") == 1


def test_a_manual_that_cannot_be_written_is_an_error(ecosort: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([ecosort, "manual", "man"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert "No space left on device" in done.stderr


TOOLS = {
    "power": ["ecosort-power"],
    "tune": ["ecosort-tune"],
    "cluster": ["ecosort-cluster"],
    "queue": ["ecosort-appliance", "queue"],
    "joulesort": ["ecosort-power", "joulesort"],
    "serve": ["ecosort-appliance", "serve"],
}


@pytest.mark.parametrize("command", TOOLS)
def test_the_page_of_a_python_tool_has_its_commands_and_options(run: Run, command: str) -> None:
    tool, *words = TOOLS[command]
    told = subprocess.run([ROOT / ".venv/bin" / tool, *words, "--help"], capture_output=True, text=True, check=True).stdout
    page = run("manual", "man", command).stdout.replace("\\-", "-")
    items = set(re.findall(r"^\.TP\n\.B (--[a-z-]+|[a-z]+)(?: .*)?$", page, re.MULTILINE))
    own = {"--help", "--version"}
    if command in ("joulesort", "serve"):
        assert items - own == set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", told, re.MULTILINE)) - own
    else:
        commands = told.partition("ommands:" if "ommands:" in told else "COMMAND\n")[2]
        assert "...\n" not in commands  # each is explained by a whole sentence
        assert items - own == set(re.findall(r"^ +([a-z]+)  ", commands, re.MULTILINE))
