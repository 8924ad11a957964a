"""The progress line as a sort prints it on a terminal, as a picture: docs/pictures/progress.svg."""

from __future__ import annotations

import argparse
import os
import pty
import re
import subprocess
import sys
import tempfile
import termios
from collections.abc import Sequence
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PICTURE = ROOT / "docs" / "pictures" / "progress.svg"
COLUMNS = 100
_ROW, _COLUMN = 20, 7.83


def shown(command: Sequence[str], directory: Path) -> list[str]:
    """Every line that a command shows on a terminal, those that take one another's place, too."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, COLUMNS))
    environment = {**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8"}
    said = b""
    with subprocess.Popen(command, cwd=directory, stderr=theirs, stdout=subprocess.DEVNULL, env=environment):
        os.close(theirs)
        try:
            while piece := os.read(ours, 65536):
                said += piece
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    plain = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", said.decode())
    return [line.strip() for line in re.split(r"[\r\n]+", plain) if line.strip()]


def lines_of_a_sort(program: Path, records: int, memory: str, directory: Path) -> list[str]:
    """A line of each phase that lasted long enough to be shown, the last one that there was, and the line at the end."""
    subprocess.run([program, "gen", "-a", str(records), "input.dat"], cwd=directory, capture_output=True, check=True)
    lines = shown([str(program), "sort", "--memory", memory, "input.dat", "-o", "sorted.dat"], directory)
    phases = ("reading and sorting", "merging")
    found = [next((line for line in reversed(lines) if f": {phase}," in line), "") for phase in phases]
    return [*(line for line in found if line), *lines[-1:]]


def picture(command: str, lines: Sequence[str]) -> str:
    rows = [f"$ {command}", *lines]
    width, height = round(max(map(len, rows)) * _COLUMN + 32), len(rows) * _ROW + 32
    texts = "".join(
        f'<text x="16" y="{30 + number * _ROW}"{"" if number else " class=" + chr(34) + "typed" + chr(34)}>{escape(row)}</text>\n'
        for number, row in enumerate(rows)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">\n<title>The progress line</title>\n'
        "<style>text { font: 13px ui-monospace, monospace; fill: #ddd; white-space: pre } .typed { fill: #9c9 }</style>\n"
        f'<rect width="{width}" height="{height}" rx="6" fill="#222"/>\n{texts}</svg>\n'
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--directory", type=Path, default=Path(), help="on the drive that is sorted on")
    given = parser.parse_args()
    program = Path(os.environ.get("ECOSORT_PROGRAM") or ROOT / "build" / "ecosort").resolve()
    with tempfile.TemporaryDirectory(dir=given.directory) as name:
        lines = lines_of_a_sort(program, 20_000_000, "128MiB", Path(name))
    PICTURE.write_text(picture("ecosort sort --memory 128MiB input.dat -o sorted.dat", lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
