"""`python -m ecosort_power.accuracy`: simulates, writes the results, and writes their table into power/README.md."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from ecosort_power.accuracy.sweep import NAMED, Outcome, cells, sweep
from ecosort_power.accuracy.table import SCHEMA, Results, into, load, render, save, verdict

POWER = Path(__file__).resolve().parents[2]
RESULTS = POWER / "results/accuracy.json"


def _arguments(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m ecosort_power.accuracy", description=__doc__)
    parser.add_argument("--runs", type=int, default=1000, help="simulated runs per cell (1000)")
    parser.add_argument("--named-runs", type=int, default=20_000, help="simulated runs per named shape (20000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (one per processor)")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--readme", type=Path, default=POWER / "README.md")
    parser.add_argument("--table", action="store_true", help="simulate nothing, write the table of the results that are there")
    return parser.parse_args(words)


def _sweep(chosen: argparse.Namespace) -> Results:
    every, begin, done = cells(), time.monotonic(), []
    named: list[Outcome] = list(sweep(NAMED.values(), chosen.named_runs, chosen.seed, chosen.jobs))
    for outcome in sweep(every, chosen.runs, chosen.seed, chosen.jobs):
        done.append(outcome)
        if len(done) % 50 == 0 or len(done) == len(every):
            print(f"{len(done)} of {len(every)} cells, {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
    return Results(SCHEMA, chosen.runs, chosen.named_runs, chosen.seed, dict(zip(NAMED, named, strict=True)), done)


def main(words: list[str] | None = None) -> None:
    chosen = _arguments(words)
    if not chosen.table:
        save(_sweep(chosen), chosen.results)
    results = load(chosen.results)
    chosen.readme.write_text(into(chosen.readme.read_text(encoding="utf-8"), render(results)), encoding="utf-8")
    for outcome in results.cells:
        if verdict(outcome) == "narrow":
            print(f"holds the truth in {outcome.coverage:.1%} only: {outcome.cell}")


if __name__ == "__main__":
    main()
