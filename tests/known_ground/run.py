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
import re
import shutil
import subprocess
import sys
import tomllib
from typing import Any

from looks import cell
from sorters import HERE, PEERS, ROOT, Tool, complaint_of, environment, shell

PAGE = ROOT / "docs" / "coming-from.md"
CASES: dict[str, Any] = tomllib.loads((HERE / "cases.toml").read_text())
ECOSORT: dict[str, Any] = tomllib.loads((HERE / "ecosort.toml").read_text())
_OURS = dict[tuple[str, int, str], str]()


def version_of(peer: dict[str, Any], builds: bool) -> str:
    """Nothing: the peer is not here. One that has no package is built, in the version that its file names."""
    PEERS.mkdir(parents=True, exist_ok=True)
    done = shell(peer["version"], PEERS)
    if done.returncode == 0 and done.stdout.strip():
        return done.stdout.decode().split()[0]
    if not builds or "build" not in peer:
        return ""
    words = ["bash", "-c", peer["build"]]
    built = subprocess.run(words, cwd=PEERS, env=environment(PEERS), capture_output=True, text=True, check=False)
    if built.returncode != 0:
        print(f"{peer['name']}: {complaint_of(built.stderr, built.returncode)}")
    return version_of(peer, False)


def tools_of(peer: dict[str, Any]) -> tuple[Tool, Tool]:
    """Returns the peer, and EcoSort in its place."""
    kind, rows = peer["kind"], peer.get("rows", Tool.rows)
    return Tool(kind, peer["commands"], rows), Tool(kind, ECOSORT[kind], rows)


def cases_of(kind: str) -> list[dict[str, Any]]:
    """The cases whose values a kind of input can have."""
    return [case for case in CASES.values() if kind not in case.get("not_for", ())]


def row_of(theirs: Tool, ours: Tool, case: dict[str, Any]) -> str:
    key = (ours.kind, ours.rows, case["what"])  # the same for many peers
    _OURS[key] = _OURS.get(key) or cell(ours, case)
    return f"| {case['what']} | {cell(theirs, case)} | {_OURS[key]} |"


def with_row_anew(before: str, peer: dict[str, Any], case: dict[str, Any]) -> str:
    """Returns a table of the page whose row of this case was run again; a case that it lacks gets a row."""
    if peer["kind"] in case.get("not_for", ()):
        return before
    begins = [f"| {one['what']} |" for one in cases_of(peer["kind"])]
    row = begins.index(f"| {case['what']} |")
    lines = before.splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith(begins[0]))  # behind the commands
    rows = [line for line in lines[first:] if not line.startswith(begins[row])]
    at = next(at for at, line in enumerate(rows) if not line or line.startswith(tuple(begins[row + 1 :])))
    return "\n".join([*lines[:first], *rows[:at], row_of(*tools_of(peer), case), *rows[at:]])


def section(peer: dict[str, Any], version: str) -> str:
    theirs, ours = tools_of(peer)
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    lines = [f"{peer['name']} {version} ({peer['from']}), run {today}.", ""]
    lines += [f"| the task | {peer['name']} | EcoSort |", "| --- | --- | --- |"]
    tasks = [task for task in ("text", "number", "float", "memory") if task in theirs.commands]
    tasks += ["float"] if "float" in ours.commands and "float" not in tasks else []
    lines += [f"| {task} | `{shown(theirs.command(task))}` | `{shown(ours.command(task))}` |" for task in tasks]
    lines += [row_of(theirs, ours, case) for case in cases_of(theirs.kind)]
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
