"""The result in the form of a JouleSort submission."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ecosort_power.report.content import Result, Section, Table
from ecosort_power.report.facts import MISSING
from ecosort_power.report.sections import headline_words, sections


def _cell(text: str) -> str:
    """A bar would end the cell, and a line break the table."""
    return " ".join(text.split("\n")).replace("|", "\\|")


def _table(table: Table) -> Iterator[str]:
    yield "| " + " | ".join(table.header) + " |"
    yield "|" + "---|" * len(table.header)
    yield from ("| " + " | ".join(map(_cell, row)) + " |" for row in table.rows)
    yield ""


def _section(section: Section) -> Iterator[str]:
    yield from (f"## {section.title}", "")
    if section.lead:
        yield from (section.lead, "")
    yield from (f"- {f.name}: {' '.join(f.value.splitlines())}" for f in section.facts)
    if section.facts:
        yield ""
    for table in filter(lambda t: t.rows, section.tables):
        yield from _table(table)
    yield from _texts(section)


def _texts(section: Section) -> Iterator[str]:
    """Notes are a list, all else paragraphs."""
    if section.title == "Notes":
        yield from (f"- {text}" for text in section.texts)
        yield ""
        return
    for text in section.texts:
        yield from (text, "")


def _head(result: Result) -> Iterable[str]:
    title = result.facts.get("title", f"JouleSort submission ({MISSING}: title)")
    yield f"# {' '.join(title.split())}"
    yield ""
    if result.simulated:
        yield from ("**SIMULATED: these are the readings of a simulated meter.**", "")
    yield from (f"**{result.summary.title}**", "")
    yield from (line for words in headline_words(result) for line in (f"**{words}.**", ""))
    authors, category = (" ".join(result.fact(key).split()) for key in ("authors", "category"))
    yield from (f"Authors: {authors}. Category: {category}.", "")


def render(result: Result) -> str:
    lines = [*_head(result)]
    for section in sections(result):
        lines += _section(section)
    return "\n".join(lines).rstrip() + "\n"
