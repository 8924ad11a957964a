#!/usr/bin/env python3
"""Runs other sorters on small inputs that show what they do to data, and keeps the tables of docs/coming-from.md true.

    tests/known_ground/run.py [--build] [--write] [--case NAME] [PEER ...]

A peer is a file of `peers/`: who it is, and its commands; `ecosort.toml` has ours for these tasks, `cases.toml` the inputs.
Every cell of a table was printed by a run: exit 1 says which cells are others now, `--write` puts them into the page. A peer that
is not installed here keeps its table.
"""

from __future__ import annotations

import argparse
import datetime
import functools
import operator
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs" / "coming-from.md"
CASES: dict[str, Any] = tomllib.loads((HERE / "cases.toml").read_text())
ECOSORT: dict[str, Any] = tomllib.loads((HERE / "ecosort.toml").read_text())
BUILD = Path(os.environ.get("ECOSORT_BUILD") or ROOT / "build")
PATH = os.pathsep.join([str(BUILD), str(BUILD / "known" / "bin"), str(ROOT / ".venv-known" / "bin"), os.environ["PATH"]])
SECONDS = 120


@dataclass(frozen=True)
class Tool:
    """Somebody who sorts: the peer, or EcoSort in its place. The commands that limit the memory give 32 MiB."""

    kind: str  # of its input: csv, lines (CSV without a header), jsonl, bed, vcf, sam
    commands: dict[str, str]  # `text`, `number`, perhaps `float` and `memory`
    rows: int = 1_000_000  # of a large input

    def command(self, task: str, output: str = "") -> str:
        words = self.commands.get(task) or self.commands["number"]
        if words.startswith("ecosort") and not words.startswith("ecosort lines"):
            output = output.replace("/dev/stdout", "-")
        return words.replace("{in}", self.input).replace("{out}", output or self.output)

    @property
    def input(self) -> str:
        return "in" if self.kind == "lines" else f"in.{self.kind}"

    @property
    def output(self) -> str:
        return self.input.replace("in", "out")


def environment(place: Path) -> dict[str, str]:
    temp = place / "temp"
    temp.mkdir(exist_ok=True)
    known = {"PATH": PATH, "LC_ALL": "C", "TMPDIR": str(temp), "ECOSORT_PROGRAM": str(BUILD / "ecosort")}
    return {**os.environ, **known, "PYTHONPATH": str(ROOT / "python")}


def shell(command: str, place: Path) -> subprocess.CompletedProcess[bytes]:
    words = ["bash", "-c", command]
    return subprocess.run(words, cwd=place, env=environment(place), capture_output=True, timeout=SECONDS, check=False)


# Files of genomes: what comes first, and a row, with tabs in place of blanks. The value is a place on chromosome c.
GENOMES = {
    "bed": ([], "c {v} {v} n{i}"),
    "vcf": (
        ["##fileformat=VCFv4.2", "##contig=<ID=c>", "#CHROM POS ID REF ALT QUAL FILTER INFO".replace(" ", "\t")],
        "c {v} n{i} A C . . .",
    ),
    "sam": (["@SQ\tSN:c\tLN:2147483647"], "n{i} 0 c {v} 60 1M * 0 0 A I"),
}


def input_of(tool: Tool, values: list[str], end: str = "\n") -> bytes:
    """Rows with a number and a value; a text of JSON or CSV as it is."""
    if tool.kind == "jsonl":
        rows = [f'{{"id":{i},"v":{value}}}' for i, value in enumerate(values)]
    elif tool.kind in GENOMES:
        header, row = GENOMES[tool.kind]
        rows = [*header, *(row.format(i=i, v=value).replace(" ", "\t") for i, value in enumerate(values))]
    else:
        rows = [*(["id,v"] if tool.kind == "csv" else []), *(f"{i},{value}" for i, value in enumerate(values))]
    return ("\n".join(rows) + end).encode()


def rows_of(tool: Tool, data: bytes) -> list[str]:
    rows = data.decode("utf-8", "replace").splitlines()
    if tool.kind in GENOMES:
        return [row for row in rows if row[:1] not in ("#", "@")]
    return rows[1:] if tool.kind == "csv" else rows


def value_of(tool: Tool, row: str) -> str:
    if tool.kind in GENOMES:
        return row.split("\t")[3 if tool.kind == "sam" else 1] or "(empty)"
    found = re.search(r'"v": ?(.*)}', row) if tool.kind == "jsonl" else re.search(r",(.*)", row)
    value = found[1] if found else row
    return value or "(empty)"


def number_of(row: str) -> int:
    found = re.search(r"(?:\bn|^\D*)(\d+)", row)
    return int(found[1]) if found else -1


def complaint(done: subprocess.CompletedProcess[bytes]) -> str:
    return complaint_of(done.stderr.decode("utf-8", "replace"), done.returncode)


def complaint_of(said: str, code: int) -> str:
    """The line of a message that says most: the last one of Python's, else the first."""
    lines = [line.strip().replace("`", "'") for line in said.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("Writing to ")] or lines  # names that are others each time
    line = (lines[-1] if lines and lines[0].startswith("Traceback") else lines[0]) if lines else f"exit {code}"
    return (line[:90] + "...") if len(line) > 90 else line


# Each of these runs a tool in an empty directory, and returns what is seen: a cell.


def seen_values(tool: Tool, case: dict[str, Any], place: Path) -> str:
    values = case.get(tool.kind, case["values"])
    done = given(tool, input_of(tool, values), case["task"], place)
    if done.returncode != 0:
        return f"refused: {complaint(done)}"
    return " ".join(value_of(tool, row) for row in rows_of(tool, output_of(tool, place)))


def seen_ties(tool: Tool, case: dict[str, Any], place: Path) -> str:
    data = input_of(tool, [str(i * 7919 % 3 + 1) for i in range(case["rows"])])
    done = given(tool, data, "number", place)
    if done.returncode != 0:
        return f"refused: {complaint(done)}"
    expected = sorted(rows_of(tool, data), key=lambda row: value_of(tool, row))
    rows = rows_of(tool, output_of(tool, place))
    pairs = [(value_of(tool, row), number_of(row)) for row in rows]
    if len(rows) != len(expected):
        return f"{len(expected)} rows became {len(rows)}"
    return "stay in input order" if pairs == sorted(pairs) else "come in another order"


def seen_bytes(tool: Tool, case: dict[str, Any], place: Path) -> str:
    data = input_of(tool, case.get(tool.kind, case["values"]))
    done = given(tool, data, "text", place)
    if done.returncode != 0:
        return f"refused: {complaint(done)}"
    before, after = rows_of(tool, data), output_of(tool, place).decode("utf-8", "replace").splitlines()
    made = {number_of(row): row for row in after}
    changed = [f"`{row}` to `{made.get(number_of(row), '')}`".replace("\t", " ") for row in before if row not in after]
    return f"changed: {', '.join(changed[:3])}" if changed else "as they were"


def seen_last_end(tool: Tool, case: dict[str, Any], place: Path) -> str:
    done = given(tool, input_of(tool, ["2", "1"], end=""), "number", place)
    if done.returncode != 0:
        return f"refused: {complaint(done)}"
    data = output_of(tool, place)
    rows = rows_of(tool, data)
    if [value_of(tool, row) for row in rows] != ["1", "2"]:
        return f"wrong rows: {data.decode()!r}"
    return "gets its newline" if data.endswith(b"\n") else "no newline at the end of the output"


def seen_full_disk(tool: Tool, case: dict[str, Any], place: Path) -> str:
    """The output goes to a file system for half of it; temporary files have room."""
    data = big_input(tool, tool.rows // 5)
    (place / tool.input).write_bytes(data)
    (place / "small").mkdir()
    output = f"small/{tool.output}"
    mount = f"mount -t tmpfs -o size={len(data) // 2} none small || exit 99"
    run = f"({tool.command('number', output)}) >said 2>&1; code=$?"
    script = f"{mount}; {run}; echo $code; stat -c %s {output} 2>/dev/null || echo none"
    words = ["unshare", "--mount", "bash", "-c", script]
    done = subprocess.run(words, cwd=place, env=environment(place), capture_output=True, text=True, timeout=SECONDS, check=False)
    told = done.stdout.split()
    if len(told) != 2 or told[0] == "99":
        raise RuntimeError(f"full disk: {done.stdout} {done.stderr}")
    left = {"none": "leaves no file", "0": "leaves an empty file"}.get(told[1], "leaves a part as the output")
    return f"exit {told[0]}, {left}"


def seen_closed_pipe(tool: Tool, case: dict[str, Any], place: Path) -> str:
    """The reader goes after a few bytes."""
    (place / tool.input).write_bytes(big_input(tool, tool.rows // 5))
    command = tool.command("number", "/dev/stdout")
    done = shell(f"(exec 2>said; {command}) | head -c 10 >/dev/null; echo ${{PIPESTATUS[0]}}", place)
    code = int(done.stdout.split()[-1])
    said = (place / "said").read_text(errors="replace").strip()
    end = "ends by SIGPIPE" if code == 128 + signal.SIGPIPE else f"exit {code}"
    return f"{end}, {'a message' if said else 'silent'}"


def seen_sigkill(tool: Tool, case: dict[str, Any], place: Path) -> str:
    """Killed after half of the time that it takes, and once more when the first bytes are in the output."""
    (place / tool.input).write_bytes(big_input(tool, tool.rows))
    begin = time.monotonic()
    if (done := shell(tool.command("memory"), place)).returncode != 0:
        return f"fails: {complaint(done)}"
    half = (time.monotonic() - begin) / 2
    while (first := left_when(tool, place, functools.partial(operator.lt, half))) is None:
        half /= 2  # it was quicker this time
    output = place / tool.output
    later = left_when(tool, place, lambda _: output.exists() and output.stat().st_size > 0)
    return ", or ".join(dict.fromkeys([first, later or "the whole output"]))


def left_when(tool: Tool, place: Path, is_time: Callable[[float], bool]) -> str | None:
    """Nothing: it ended before its time came."""
    for path in place.iterdir():
        if path.name != tool.input:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    words = ["bash", "-c", f"exec 2>/dev/null; {tool.command('memory')}"]
    surroundings = environment(place)
    begin = time.monotonic()
    work = subprocess.Popen(words, cwd=place, env=surroundings, stdout=subprocess.DEVNULL, start_new_session=True)
    while work.poll() is None and not is_time(time.monotonic() - begin):
        time.sleep(0.0005)
    if work.poll() is not None:
        return None
    os.killpg(work.pid, signal.SIGKILL)
    work.wait()
    output = place / tool.output
    others = {path.name for path in place.iterdir()} - {tool.input, tool.output, "temp"}
    told = ["temporary files"] if others or any((place / "temp").rglob("*")) else []
    if output.exists():
        is_whole = output.stat().st_size >= (place / tool.input).stat().st_size * 0.98
        told.append("the whole output" if is_whole else "a part as the output")
    return " and ".join(told) or "nothing"


def seen_memory(tool: Tool, case: dict[str, Any], place: Path) -> str:
    (place / tool.input).write_bytes(big_input(tool, tool.rows))
    done = shell(peak_of(tool.command("memory")), place)
    peak = (place / "peak").read_text().split()
    if int(peak[0]) != 0:
        return f"fails: {complaint(done)}"
    mebibytes = int(peak[1]) >> 10
    size = (place / tool.input).stat().st_size >> 20
    asked = "32 MiB asked for, " if "memory" in tool.commands else "no limit: "
    return f"{asked}~{mebibytes} MiB taken for {size} MiB"


def peak_of(command: str) -> str:
    """Writes exit code and KiB of resident memory to `peak`."""
    measure = (
        "import resource, subprocess, sys; code = subprocess.run(['bash', '-c', sys.argv[1]]).returncode; "
        "print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=open('peak', 'w'))"
    )
    return f"{sys.executable} -c {shell_word(measure)} {shell_word(command)}"


def shell_word(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def big_input(tool: Tool, rows: int) -> bytes:
    less = 4 if tool.kind in GENOMES else 1  # their formats have places from 1 to 2^31
    return input_of(tool, [f"{i * 2654435761 % 4294967296 // less + 1}" for i in range(rows)])


def given(tool: Tool, data: bytes, task: str, place: Path) -> subprocess.CompletedProcess[bytes]:
    (place / tool.input).write_bytes(data)
    return shell(tool.command(task), place)


def output_of(tool: Tool, place: Path) -> bytes:
    return (place / tool.output).read_bytes()


SEEN: dict[str, Callable[[Tool, dict[str, Any], Path], str]] = {
    name.removeprefix("seen_"): function for name, function in list(globals().items()) if name.startswith("seen_")
}


def cell(tool: Tool, case: dict[str, Any]) -> str:
    with tempfile.TemporaryDirectory(prefix="known-ground-") as name:
        try:
            text = SEEN[case["look"]](tool, case, Path(name))
        except subprocess.TimeoutExpired:
            text = f"does not end within {SECONDS} s"
    return text.replace(name, ".").replace("|", "\\|")


def version_of(peer: dict[str, Any], builds: bool) -> str:
    """Nothing: the peer is not here. One that has no package is built, in the version that its file names."""
    done = shell(peer["version"], HERE)
    if done.returncode == 0 and done.stdout.strip():
        return done.stdout.decode().split()[0]
    if not builds or "build" not in peer:
        return ""
    command = peer["build"].replace("{known}", str(BUILD / "known"))
    built = subprocess.run(["bash", "-c", command], cwd=HERE, capture_output=True, text=True, check=False)
    if built.returncode != 0:
        print(f"{peer['name']}: {complaint_of(built.stderr, built.returncode)}")
    return version_of(peer, False)


def tools_of(peer: dict[str, Any]) -> tuple[Tool, Tool]:
    """Returns the peer, and EcoSort in its place."""
    kind, rows = peer["kind"], peer.get("rows", Tool.rows)
    return Tool(kind, peer["commands"], rows), Tool(kind, ECOSORT[kind], rows)


def row_of(theirs: Tool, ours: Tool, case: dict[str, Any]) -> str:
    return f"| {case['what']} | {cell(theirs, case)} | {cell(ours, case)} |"


def with_row_anew(before: str, peer: dict[str, Any], case: dict[str, Any]) -> str:
    """Returns a table of the page whose row of this case was run again."""
    begin = f"| {case['what']} |"
    return "\n".join(row_of(*tools_of(peer), case) if line.startswith(begin) else line for line in before.splitlines())


def section(peer: dict[str, Any], version: str) -> str:
    theirs, ours = tools_of(peer)
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    lines = [f"{peer['name']} {version} ({peer['from']}), run {today}.", ""]
    lines += [f"| the task | {peer['name']} | EcoSort |", "| --- | --- | --- |"]
    tasks = [task for task in ("text", "number", "float", "memory") if task in theirs.commands]
    lines += [f"| {task} | `{shown(theirs.command(task))}` | `{shown(ours.command(task))}` |" for task in tasks]
    lines += [row_of(theirs, ours, case) for case in CASES.values()]
    return "\n".join([*lines, "", f"Better there: {peer['better']}"])


def shown(command: str) -> str:
    """Returns the command as a reader types it, within a table."""
    return command.replace("|", "\\|")


def parts_of(page: str) -> dict[str, str]:
    found = re.findall(r"<!-- known ground: (\S+) -->\n(.*?)\n<!-- end -->", page, re.DOTALL)
    return dict(found)


def differences(before: str, after: str) -> list[str]:
    """Cells that are others; a figure of memory may vary by a third, and the date is that of the run."""
    old, new = (re.sub(r", run [-\d]+\.", "", text).splitlines() for text in (before, after))
    told = [f"  was: {one}\n  now: {two}" for one, two in zip(old, new, strict=False) if not alike(one, two)]
    return told or ([] if len(old) == len(new) else [f"  {len(old)} lines became {len(new)}"])


def alike(one: str, two: str) -> bool:
    figures = r"~(\d+) MiB"
    if re.sub(figures, "", one) != re.sub(figures, "", two):
        return False
    pairs = zip(re.findall(figures, one), re.findall(figures, two), strict=True)
    return all(abs(int(a) - int(b)) <= max(8, int(a) // 3) for a, b in pairs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", action="store_true", help="build the peers that have no package, where their compilers are")
    parser.add_argument("--write", action="store_true", help="put the new tables into the page")
    parser.add_argument("--case", choices=CASES, help="run this case alone, of those in cases.toml")
    parser.add_argument("peers", nargs="*", help="names of files in peers/ without their ending")
    words = parser.parse_args()
    changed = 0
    for name in words.peers or sorted(path.stem for path in (HERE / "peers").glob("*.toml")):
        peer = tomllib.loads((HERE / "peers" / f"{name}.toml").read_text())
        version = version_of(peer, words.build)
        if not version:
            print(f"{name}: not installed here, not run")
            continue
        before = parts_of(PAGE.read_text()).get(name)
        if before is None:
            raise SystemExit(f"{PAGE.name} has no part '<!-- known ground: {name} -->'")
        text = with_row_anew(before, peer, CASES[words.case]) if words.case else section(peer, version)
        found = differences(before, text)
        print(f"{name}: {'as the page says' if not found else 'changed'}", *found, sep="\n", flush=True)
        changed += bool(found)
        if words.write:
            mark = f"<!-- known ground: {name} -->\n"
            PAGE.write_text(PAGE.read_text().replace(f"{mark}{before}\n", f"{mark}{text}\n"))
    return 1 if changed and not words.write else 0


if __name__ == "__main__":
    if shutil.which("bash") is None:
        raise SystemExit("bash is needed")
    sys.exit(main())
