"""Writes what `ecosort joulesort --predict` says of the machine of docs/benchmarks.md, by the models of a committed result;
`--write` puts it into docs/research.md. The profile is given the identity of the machine that it runs on, or it would be
refused.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from ecosort_power.codec import decode
from ecosort_tuning.machine import this_machine
from ecosort_tuning.profile import CpuModel, Profile, TimeModel, write_profile

ROOT = Path(__file__).resolve().parents[3]
RESULT = ROOT / "tuning" / "bench" / "results" / "prediction.json"
PAGE = ROOT / "docs" / "research.md"
COMMAND = "ecosort joulesort --predict -- --memory 1GiB --threads 2"
_PART = re.compile(r"(<!-- prediction: begin.*?-->\n).*?(<!-- prediction: end -->)", re.DOTALL)


def profile() -> Profile:
    result = json.loads(RESULT.read_text())
    found = decode(Profile, result["profile"])
    models = result["models"]
    return replace(
        found, machine=this_machine(), cpu=decode(CpuModel, models["cpu"]), time=decode(TimeModel, models["time"]), absent={}
    )


def said() -> str:
    """Returns what the command prints."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "p.toml"
        write_profile(path, profile())
        words = COMMAND.replace("--predict", f"--predict --profile {path} --data {place}").split()[1:]
        program = os.environ.get("ECOSORT_PROGRAM") or str(ROOT / "build" / "ecosort")
        command = [sys.executable, "-m", "ecosort_power", *words]
        environment = {**os.environ, "ECOSORT_PROGRAM": program}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def part(text: str) -> str:
    return "\n" + "".join(f"    {line}".rstrip() + "\n" for line in (f"$ {COMMAND}", *text.splitlines())) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(";")[0])
    parser.add_argument("--write", action="store_true", help="put it into docs/research.md")
    given = parser.parse_args()
    text = said()
    if not given.write:
        print(text, end="")
        return 0
    page = PAGE.read_text()
    PAGE.write_text(_PART.sub(lambda found: found[1] + part(text) + found[2], page))
    return 0


if __name__ == "__main__":
    sys.exit(main())
