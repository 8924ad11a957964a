"""Chooses the form of a report and where it goes."""

from __future__ import annotations

import sys
from pathlib import Path

from ecosort_power.errors import UsageError
from ecosort_power.report import csv, facts, json, markdown, terminal
from ecosort_power.store import ResultDirectory
from ecosort_power.summary import summarize


def write_report(path: Path, form: str, facts_path: Path | None, template: bool, output: Path | None) -> None:
    """The summary is computed from the runs, not read, so that it fits them."""
    if template:
        _write(facts.template(), output)
        return
    directory = ResultDirectory(path)
    session, runs = directory.session(), directory.runs()
    summary = summarize(session, runs)
    if form == "terminal":
        if output is not None:
            raise UsageError("the terminal form has no --output; redirect it, or choose --format markdown or html")
        terminal.show(session, runs, summary)
    elif form == "json":
        _write(json.render(session, runs, summary), output)
    elif form == "csv":
        _write(csv.render(session, runs), output)
    elif form == "markdown":
        _write(markdown.render(session, runs, summary, facts.read(facts_path, path)), output)
    else:
        from ecosort_power.report import html  # matplotlib is loaded only where it draws

        _write(html.render(directory, session, runs, summary, facts.read(facts_path, path)), output)


def _write(text: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}") from error
