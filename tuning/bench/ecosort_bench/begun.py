"""The document of a benchmark that keeps all its runs: a new one, or the one that is there and is continued."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click
from ecosort_measure.results import commit_of, machine_facts
from ecosort_power.codec import read_json

ROOT = Path(__file__).resolve().parents[3]

Document = dict[str, Any]


def begun(path: Path, continued: bool, directory: Path, schema: str, settings: dict[str, Any], command: str) -> Document:
    """With the `runs` that are there, where it is continued. ClickException where machine or settings were others."""
    machine = machine_facts(directory)
    if continued and path.exists():
        data: Document = read_json(path)
        for name, now in (("schema", schema), ("settings", settings), ("machine", machine)):
            if data.get(name) != now:
                raise click.ClickException(f"{path} cannot be continued: its {name} was {data.get(name)}, now it is {now}")
        return {**data, **commit_of(ROOT), "command": command}
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    begin = {"schema": schema, "started": started, **commit_of(ROOT), "machine": machine, "settings": settings}
    return {**begin, "command": command, "runs": []}
