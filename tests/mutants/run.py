#!/usr/bin/env python3
"""Do the tests see the faults that are seeded in this directory?

    run.py [--jobs N] [NAME ...]      without a name all of them are tried

A fault is a patch, NAME.patch. Its head says what is wrong; each line there that begins with `tests:` has the words of one run of
pytest. A copy of the last commit gets the patch, is built, and the tests run as `make test` runs them until one fails. The copy
stays in build/mutants, so that the next build is short. caught.tsv says which test failed first, and how long that took.

Exit code 1 when a fault survives or cannot be tried, or when a test that caught one fails without it, too.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COPY = ROOT / "build/mutants"
TABLE = HERE / "caught.tsv"
HANG_S = 120  # a test that takes longer hangs, because of the fault
_FAILURE = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
_TESTS = re.compile(r"^tests: (.+)$", re.MULTILINE)


class BrokenError(Exception):
    """Something failed that is no test."""


class Mutant(NamedTuple):
    patch: Path
    test_runs: list[list[str]]
    is_python: bool


def read_mutant(patch: Path) -> Mutant:
    head, changes = patch.read_text().split("\n--- a/", 1)
    return Mutant(patch, [shlex.split(words) for words in _TESTS.findall(head)], changes.split("\n")[0].endswith(".py"))


def choose_mutants(names: Sequence[str]) -> list[Mutant]:
    """Chooses all or those named; those of Python come first: one build serves them."""
    known = {patch.stem: read_mutant(patch) for patch in sorted(HERE.glob("*.patch"))}
    if unknown := set(names) - set(known):
        raise BrokenError(f"no such mutant: {', '.join(sorted(unknown))}")
    return [known[name] for name in names] or sorted(known.values(), key=lambda mutant: not mutant.is_python)


def run_in_copy(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """With the copy's own build and without the larger sweeps of `make soak`; in a session of its own, as a fault may kill it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ECOSORT_", "MAKE", "MFLAGS"))}
    return subprocess.run(words, cwd=COPY, env=kept, start_new_session=True, capture_output=True, text=True, check=False)


def call(*words: str | Path) -> None:
    done = run_in_copy(*words)
    if done.returncode != 0:
        raise BrokenError(f"{shlex.join(map(str, words))} failed:\n{(done.stdout + done.stderr)[-2000:]}")


def renew_copy(jobs: int) -> None:
    """Only files that changed since the last time get a new time, so that little is built."""
    COPY.mkdir(parents=True, exist_ok=True)
    if not (COPY / ".git").exists():
        call("git", "clone", "--quiet", "--shared", "--no-checkout", ROOT, ".")
    call("git", "fetch", "--quiet", ROOT, "HEAD")
    call("git", "checkout", "--quiet", "--force", "--detach", "FETCH_HEAD")
    call("tuning/setup/deps", "python")
    build(jobs)


def build(jobs: int) -> None:
    call("make", "--silent", "everything", f"JOBS={jobs}")


def first_failure(words: Sequence[str], jobs: int) -> str | None:
    done = run_in_copy(".venv/bin/python", "-m", "pytest", "-x", "-q", "-n", str(jobs), f"--timeout={HANG_S}", *words)
    if failed := _FAILURE.search(done.stdout):
        return failed[1]
    if done.returncode != 0:
        raise BrokenError(f"pytest {shlex.join(words)} did not run:\n{(done.stdout + done.stderr)[-2000:]}")
    return None


def catch(mutant: Mutant, jobs: int) -> str | None:
    """The first test that sees the fault."""
    call("git", "apply", mutant.patch)
    try:
        build(jobs)
        return next(filter(None, (first_failure(words, jobs) for words in mutant.test_runs)), None)
    finally:
        call("git", "checkout", "--quiet", "--force", ".")


def record(name: str, caught_by: str, seconds: float) -> None:
    """Replaces what the table says of this mutant, and forgets mutants that are gone."""
    lines = TABLE.read_text().splitlines()[1:] if TABLE.exists() else []
    rows = {line.split("\t")[0]: line for line in lines} | {name: f"{name}\t{caught_by}\t{seconds:.0f}"}
    kept = [rows[name] for name in sorted(rows) if (HERE / f"{name}.patch").exists()]
    TABLE.write_text("\n".join(["mutant\tcaught by\tseconds", *kept]) + "\n")


def try_all(mutants: Sequence[Mutant], jobs: int) -> bool:
    """True when every fault was caught, by a test that passes without it."""
    catching: list[str] = []
    for number, mutant in enumerate(mutants, 1):
        begin_s = time.monotonic()
        try:
            caught_by = catch(mutant, jobs)
            catching += [caught_by] if caught_by else []
            outcome = caught_by or "SURVIVED"
            record(mutant.patch.stem, outcome, time.monotonic() - begin_s)
        except BrokenError as error:
            outcome = f"cannot be tried: {error}"
        print(f"mutants: {number} of {len(mutants)}, {mutant.patch.stem}: {outcome}", flush=True)
    build(jobs)
    if always_fails := first_failure(sorted(set(catching)), jobs) if catching else None:
        print(f"mutants: {always_fails} fails without a fault, too: it catches nothing")
    print(f"mutants: {len(catching)} of {len(mutants)} caught")
    return len(catching) == len(mutants) and not always_fails


def main() -> int:
    parser = argparse.ArgumentParser(description="Do the tests see the faults that are seeded here?")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a patch without its ending; none: all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="of the build and of the tests")
    options = parser.parse_args()
    try:
        renew_copy(options.jobs)
        return 0 if try_all(choose_mutants(options.names), options.jobs) else 1
    except BrokenError as error:
        sys.exit(f"mutants: {error}")


if __name__ == "__main__":
    sys.exit(main())
