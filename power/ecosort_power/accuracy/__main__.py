"""`python -m ecosort_power.accuracy`: simulates, writes the results, and writes their table into power/README.md.

`--only PATTERN` simulates again what of the results it fits, `--idle` the other kinds of idle power alone; all else stays.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from dataclasses import replace
from pathlib import Path

from ecosort_power.accuracy.loads import IDLES, WHITE
from ecosort_power.accuracy.sweep import IDLE_CELLS, NAMED, Cell, Outcome, cells, sweep
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
    parser.add_argument(
        "--only", type=re.compile, metavar="PATTERN", help="cells that it is found in, as: average over 5 s, every 1 s"
    )
    parser.add_argument("--idle", action="store_true", help="the other kinds of idle power alone")
    parser.add_argument("--table", action="store_true", help="simulate nothing, write the table of the results that are there")
    return parser.parse_args(words)


def _told(every: list[Cell], chosen: argparse.Namespace, idle: str) -> list[Outcome]:
    """All outcomes, telling now and then how far it is."""
    begin, done = time.monotonic(), []
    for outcome in sweep(every, chosen.runs, chosen.seed, chosen.jobs, idle):
        done.append(outcome)
        if len(done) % 50 == 0 or len(done) == len(every):
            print(
                f"idle {idle}: {len(done)} of {len(every)} cells, {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True
            )
    return done


def _sweep(chosen: argparse.Namespace) -> Results:
    named: list[Outcome] = list(sweep(NAMED.values(), chosen.named_runs, chosen.seed, chosen.jobs))
    done, white = _told(cells(), chosen, WHITE), dict(zip(NAMED, named, strict=True))
    return Results(SCHEMA, chosen.runs, chosen.named_runs, chosen.seed, white, done, _idle(chosen))


def _idle(chosen: argparse.Namespace) -> dict[str, list[Outcome]]:
    return {idle: _told(list(IDLE_CELLS), chosen, idle) for idle in IDLES if idle != WHITE}


def _again(chosen: argparse.Namespace, results: Results) -> Results:
    """The cells that were chosen, in place of what they were."""
    fresh = {o.cell: o for o in _told([c for c in cells() if chosen.only.search(str(c))], chosen, WHITE)}
    return replace(results, cells=[fresh.get(o.cell, o) for o in results.cells])


def _simulate(chosen: argparse.Namespace) -> Results:
    if chosen.only is None and not chosen.idle:
        return _sweep(chosen)
    results = load(chosen.results)
    if (chosen.runs, chosen.seed) != (results.runs, results.seed):
        raise SystemExit(
            f"{chosen.results} has {results.runs} runs per cell of seed {results.seed}: a part of it must have the same"
        )
    results = replace(results, idle=_idle(chosen)) if chosen.idle else results
    return _again(chosen, results) if chosen.only is not None else results


def main(words: list[str] | None = None) -> None:
    chosen = _arguments(words)
    if not chosen.table:
        save(_simulate(chosen), chosen.results)
    results = load(chosen.results)
    chosen.readme.write_text(into(chosen.readme.read_text(encoding="utf-8"), render(results)), encoding="utf-8")
    for outcome in results.cells:
        if verdict(outcome) == "narrow":
            print(f"holds the truth in {outcome.coverage:.1%} only: {outcome.cell}")


if __name__ == "__main__":
    main()
