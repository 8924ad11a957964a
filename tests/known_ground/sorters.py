"""A sorter in `make known-ground`: how it is called, and what its input and output look like."""

from __future__ import annotations

import os
import re
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = Path(os.environ.get("ECOSORT_BUILD") or ROOT / "build").resolve()
PEERS = BUILD / "peers"  # what is built for these runs
PATH = os.pathsep.join(map(str, (BUILD, BUILD / "bench", PEERS / "bin", ROOT / ".venv-peers" / "bin", os.environ["PATH"])))
SECONDS = 600


@dataclass(frozen=True)
class Tool:
    """Somebody who sorts: the peer, or EcoSort in its place. The commands that limit the memory give 32 MiB."""

    kind: str  # of its input: csv, lines (CSV without a header), whole (the same by whole lines), jsonl, bed, vcf, sam, u64
    commands: dict[str, str]  # `text` or `number` or both, perhaps `float` and `memory`
    rows: int = 1_000_000  # of a large input

    def command(self, task: str, output: str = "") -> str:
        words = self.commands.get(task) or self.commands.get("number") or self.commands["text"]
        if words.startswith("ecosort") and not words.startswith("ecosort lines"):
            output = output.replace("/dev/stdout", "-")
        return words.replace("{in}", self.input).replace("{out}", output or self.output)

    @property
    def input(self) -> str:
        return "in" if self.kind in ("lines", "whole") else f"in.{self.kind}"

    @property
    def output(self) -> str:
        return self.input.replace("in", "out")


def environment(place: Path) -> dict[str, str]:
    temp = place / "temp"
    temp.mkdir(exist_ok=True)
    known = {"PATH": PATH, "LC_ALL": "C", "TMPDIR": str(temp), "ECOSORT_PROGRAM": str(BUILD / "ecosort")}
    known |= {"KNOWN_GROUND": str(HERE), "PEERS": str(PEERS), "SETUP": str(ROOT / "tuning" / "setup"), "BUILD": str(BUILD)}
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
    """Rows with a number and a value; a text of JSON or CSV as it is. Records of u64 are two integers, the value first."""
    if tool.kind == "u64":
        return b"".join(struct.pack("<QQ", int(value), i) for i, value in enumerate(values))
    if tool.kind == "jsonl":
        rows = [f'{{"id":{i},"v":{value}}}' for i, value in enumerate(values)]
    elif tool.kind in GENOMES:
        header, row = GENOMES[tool.kind]
        rows = [*header, *(row.format(i=i, v=value).replace(" ", "\t") for i, value in enumerate(values))]
    else:
        rows = [*(["id,v"] if tool.kind == "csv" else []), *(f"{i},{value}" for i, value in enumerate(values))]
    return ("\n".join(rows) + end).encode()


def header_of(tool: Tool) -> bytes:
    """The lines in front of the rows; files without a header get one that their tools know."""
    lines, _ = GENOMES.get(tool.kind, (["id,v"], ""))
    return ("\n".join(lines or ["#chrom\tstart\tend\tname"]) + "\n").encode()


def rows_of(tool: Tool, data: bytes) -> list[str]:
    if tool.kind == "u64":
        return [f"{number},{value}" for value, number in struct.iter_unpack("<QQ", data)]
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
