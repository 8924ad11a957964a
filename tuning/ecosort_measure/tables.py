"""Tables for people: on a terminal, and in Markdown."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table


def console() -> Console:
    return Console(width=None if sys.stdout.isatty() else 150, highlight=False)


def show_table(out: Console, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    table = Table(*heads)
    for row in rows:
        table.add_row(*row)
    out.print(table)


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table, and the empty one after it."""
    return [*(f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *rows)), ""]
