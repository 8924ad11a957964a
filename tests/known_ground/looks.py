"""The looks at a sorter: each `seen_` runs a tool in an empty directory, and returns what is seen, a cell of a table."""

from __future__ import annotations

import functools
import operator
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sorters import (
    GENOMES,
    SECONDS,
    Tool,
    complaint,
    environment,
    header_of,
    input_of,
    number_of,
    rows_of,
    shell,
    value_of,
)

WHOLE = "the whole output"
ON_TOP = "stays on top"


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


def seen_header(tool: Tool, case: dict[str, Any], place: Path) -> str:
    """Where the header goes, and what is left of a table of nothing but its header. A row comes before it as a number."""
    header = header_of(tool)
    found = []
    for values in (["2", "1" if tool.kind in GENOMES else "-1"], []):
        rows = input_of(tool, values).removeprefix(header) if values else b""
        done = given(tool, header + rows, case["task"], place)
        if done.returncode == 0:
            made = output_of(tool, place).decode("utf-8", "replace").splitlines()
            found.append(place_of_header(header.decode().splitlines(), made, len(values)))
        else:
            found.append(f"refused: {complaint(done)}")
    return found[0] if found[1] in (found[0], ON_TOP) else f"{found[0]}; without rows: {found[1]}"


def place_of_header(header: list[str], made: list[str], rows: int) -> str:
    top = made[: len(made) - rows]
    if top == header:
        return ON_TOP
    if set(header) <= set(top):
        more = len(top) - len(header)
        return f"{ON_TOP}, with {more} more line{'s' if more > 1 else ''}"
    if len(top) == len(header):
        return "is sorted as a row" if set(header) <= set(made) else f"changed: `{header[-1]}` to `{top[-1]}`".replace("\t", " ")
    return "is lost"


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
    whole = output_of(tool, place)
    while (first := left_when(tool, place, whole, functools.partial(operator.lt, half))) in (None, WHOLE):
        half /= 2  # it was quicker this time
    output = place / tool.output
    later = left_when(tool, place, whole, lambda _: output.exists() and output.stat().st_size > 0)
    return ", or ".join(dict.fromkeys([first, later or WHOLE]))


def left_when(tool: Tool, place: Path, whole: bytes, is_time: Callable[[float], bool]) -> str | None:
    """Returns None where it ended before its time came."""
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
        left = output_of(tool, place)
        part = "a part as the output" if len(left) < len(whole) else "an output of full size that is wrong"
        told.append(WHOLE if left == whole else part)
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
    return f"{sys.executable} -c {shlex.quote(measure)} {shlex.quote(command)}"


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
