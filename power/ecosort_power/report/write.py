"""Chooses the form of a report and where it goes."""

from __future__ import annotations

import sys
from pathlib import Path

from ecosort_power.encoding import write_text
from ecosort_power.errors import UsageError
from ecosort_power.report import csv, facts, json, markdown, terminal
from ecosort_power.report.content import Result, gather
from ecosort_power.store import ResultDirectory


def write_report(path: Path, form: str, facts_path: Path | None, template: bool, output: Path | None) -> list[Path]:
    """The files that were written, none for standard output."""
    if template:
        return _write(facts.template(), output)
    result = gather(ResultDirectory(path), facts_path)
    if form == "terminal":
        if output is not None:
            raise UsageError("the terminal form has no --output; redirect it, or choose --format markdown or html")
        terminal.show(result)
        return []
    if form == "figures":
        return _save_figures(result, output)
    return _write(_text(result, form), output)


def _text(result: Result, form: str) -> str:
    if form == "json":
        return json.render(result)
    if form == "csv":
        return csv.render(result.session, list(result.runs))
    if form == "markdown":
        return markdown.render(result)
    from ecosort_power.report import html  # Jinja2 and matplotlib are loaded only where they are needed

    return html.render(result)


def _save_figures(result: Result, directory: Path | None) -> list[Path]:
    from ecosort_power.report.figures import figures
    from ecosort_power.report.plots import save

    if directory is None:
        raise UsageError("figures are files: say where they go with -o DIRECTORY")
    return save(figures(result), directory)


def _write(text: str, output: Path | None) -> list[Path]:
    if output is None:
        sys.stdout.write(text)
        return []
    try:
        write_text(output, text)
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}") from error
    return [output]
