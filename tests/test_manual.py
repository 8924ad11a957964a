"""The man page and the completions: made from the option tables, and read by the programs that they are for."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
COMMANDS = ["sort", "inplace", "resume", "lines", "plan", "gen", "check", "manual"]
# Commands that are programs of their own and explain themselves.
PROGRAMS = ["power", "tune", "joulesort"]


def options_in_help(run: Run, command: str) -> set[str]:
    """The long and short options that the help of a command explains (at the start of a line)."""
    text = run(command, "--help").stdout
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


def test_the_man_page_is_clean_and_holds_every_option(run: Run, tmp_path: Path) -> None:
    page = run("manual", "man").stdout
    done = subprocess.run(
        ["groff", "-ww", "-man", "-Tutf8", "-P-cbou", "-rLL=140n"], input=page, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    text = re.sub(r"[\u2010\u2212]", "-", done.stdout)
    for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "EXIT STATUS"):
        assert re.search(rf"^{section}$", text, re.MULTILINE)
    for command in [*COMMANDS, *PROGRAMS]:
        assert f"\n   ecosort {command} " in done.stdout
    for command in COMMANDS:
        body = text[text.index(f"\n   ecosort {command} ") :]
        for option in options_in_help(run, command) - {"--help"}:
            assert re.search(rf"^ +(-\w, )?{option}", body, re.MULTILINE), f"{command} {option}"
    # What roff would have eaten: backslashes, dots and quotes at the start of a line.
    assert "`" not in text


def complete_in_bash(run: Run, script_directory: Path, *words: str) -> set[str]:
    """What bash would propose for the last word of `ecosort WORDS`."""
    script = script_directory / "completion.bash"
    script.write_text(run("manual", "bash").stdout)
    ask = """
        source "$1"; shift
        COMP_WORDS=(ecosort "$@"); COMP_CWORD=$#
        _ecosort ecosort "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    command = ["bash", "--norc", "-c", ask, "bash", str(script), *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=script_directory, check=True)
    assert done.stderr == ""
    return set(done.stdout.split("\n")) - {""}


def test_bash_proposes_commands(run: Run, tmp_path: Path) -> None:
    assert complete_in_bash(run, tmp_path, "") == {*COMMANDS, *PROGRAMS, "--help", "--version"}
    assert complete_in_bash(run, tmp_path, "so") == {"sort"}
    assert complete_in_bash(run, tmp_path, "plan", "") == {"sort", "inplace", "lines"}
    assert complete_in_bash(run, tmp_path, "manual", "") == {"man", "bash", "fish"}


@pytest.mark.parametrize("command", COMMANDS)
def test_bash_proposes_the_options_of_the_help(command: str, run: Run, tmp_path: Path) -> None:
    words = [command, "sort", "-"] if command == "plan" else [command, "x", "-"]
    assert complete_in_bash(run, tmp_path, *words) == options_in_help(run, command)


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
