"""Runs the commands of the documents and compares what they print with what is there; `--write` puts the new output there.

    ```console            what comes out looks like this: numbers and spaces may differ
    ```shell-session      what comes out is this, byte for byte
    $ ecosort sort in -o out
    ...                   any lines, or none
    [exit 2]              the command ends so, which must be said unless it is 0

All commands of a page run in one empty directory, in order. Other blocks are not run: what needs a meter, root or hours.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ANYTHING = "..."
_BLOCK = re.compile(r"^```(console|shell-session)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_MOST_SECONDS = 120


@dataclass(frozen=True)
class Step:
    """A command (a line may end with a backslash) and the lines that it prints, both streams as a terminal shows them."""

    command: str
    said: tuple[str, ...]
    exact: bool


def steps_of(text: str) -> list[Step]:
    """Returns the steps of all blocks of a page, in order. ValueError for a block that does not begin with a command."""
    return [step for block in _BLOCK.finditer(text) for step in _steps(block[2].splitlines(), block[1] == "shell-session")]


def _steps(lines: Sequence[str], exact: bool) -> Iterator[Step]:
    starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    if not starts or starts[0] != 0:
        raise ValueError(f"a block begins with `$ COMMAND`, not with {lines[0] if lines else 'nothing'!r}")
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        words = [lines[start].removeprefix("$ ")]
        at = start + 1
        while words[-1].endswith("\\"):
            words.append(lines[at])
            at += 1
        yield Step("\n".join(words), tuple(lines[at:end]), exact)


def run(step: Step, directory: Path, path: str) -> tuple[str, ...]:
    """The lines that the command prints, and how it ends where that is not 0."""
    environment = {**os.environ, "PATH": path, "LC_ALL": "C.UTF-8", "TZ": "UTC", "COLUMNS": "120"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", step.command],
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=_MOST_SECONDS,
        text=True,
        check=False,
    )
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    return (*lines, *([] if done.returncode == 0 else [f"[exit {done.returncode}]"]))


def _end(lines: Sequence[str]) -> tuple[list[str], str]:
    """The lines before the one with the exit code, and that one."""
    return (list(lines[:-1]), lines[-1]) if lines and lines[-1].startswith("[exit ") else (list(lines), "[exit 0]")


def _looks(line: str) -> str:
    return " ".join(_NUMBER.sub("0", line).split())


def matches(step: Step, lines: Sequence[str]) -> bool:
    """Returns whether this is what is there. The exit code is never one of `any lines`."""
    (want, want_end), (have, have_end) = _end(step.said), _end(lines)
    if want_end != have_end:
        return False
    if not step.exact:
        want = [_looks(line) if line != ANYTHING else line for line in want]
        have = [_looks(line) for line in have]
    pattern = "".join("(?:.*\n)*?" if line == ANYTHING else re.escape(line) + "\n" for line in want)
    return re.fullmatch(pattern, "".join(line + "\n" for line in have)) is not None


def differences(text: str, directory: Path, path: str) -> list[str]:
    """Returns both for each command whose output is not what the page says."""
    found = []
    for step in steps_of(text):
        lines = run(step, directory, path)
        if not matches(step, lines):
            found.append("\n".join((f"$ {step.command}", "--- the page says", *step.said, "--- it prints", *lines)))
    return found


def renewed(text: str, directory: Path, path: str) -> str:
    """The page with what its commands print now. What already looks so, and what is cut short by `...`, stays."""

    def block(found: re.Match[str]) -> str:
        lines: list[str] = []
        for step in _steps(found[2].splitlines(), found[1] == "shell-session"):
            said = run(step, directory, path)
            kept = matches(step, said) and step.said
            lines += ["$ " + step.command, *(step.said if kept else said)]
        return "".join(["```", found[1], "\n", *(line + "\n" for line in lines), "```"])

    return _BLOCK.sub(block, text)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="put the new output into the pages")
    parser.add_argument("--path", default=os.environ["PATH"], help="where the commands are looked for")
    parser.add_argument("pages", nargs="+", type=Path)
    given = parser.parse_args()
    failed = False
    for page in given.pages:
        with tempfile.TemporaryDirectory(dir=".") as name:
            text = page.read_text()
            if given.write:
                page.write_text(renewed(text, Path(name), given.path))
                continue
            for difference in differences(text, Path(name), given.path):
                failed = True
                print(f"{page}:\n{difference}\n", file=sys.stderr)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
