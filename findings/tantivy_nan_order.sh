#!/usr/bin/env bash
# In short:  one NaN in a search index puts the numbers around it out of order.
# Package:   tantivy 0.27.0 (PyPI), the search library of Rust, by its Python package.
# One would guess: results in the order of a field of floats have their NaN at one end, or a NaN is refused when it is added.
# What happens: it is added, and parts the numbers: those before and behind it are in order by themselves. 5, 4, NaN, 3, 2, 1, 0 come as 4, 5, NaN, 0,
#   1, 2, 3, ascending. A column with many of them ends in a panic of the library instead.
# Why it matters: a page "the largest first" of readings with one gap shows others than the largest, and asks for the next page by a value that is no
#   border; a merge with another index is out of order. Documents without the field come last in both directions, as they should, so a test of gaps
#   that leaves the field out passes.
# Source:    searcher.search(..., order_by_field=...), printed below; the comparison is one of partial order (f64), for which NaN is neither less nor greater.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: tantivy==0.27.0; } >&2 || exit 2
"$dir/venv/bin/python" - <<'PYTHON'
import sys

import tantivy


def ordered(values, most, order):
    fields = tantivy.SchemaBuilder()
    fields.add_float_field("x", stored=True, indexed=True, fast=True)
    index = tantivy.Index(fields.build())
    writer = index.writer(15_000_000, 1)
    for value in values:
        document = tantivy.Document()
        document.add_float("x", value)
        writer.add_document(document)
    writer.commit()
    index.reload()
    found = index.searcher().search(tantivy.Query.all_query(), most, order_by_field="x", order=order)
    return [hit[0] for hit in found.hits]


seen = []
for values in ([5.0, 4.0, 3.0, 2.0, 1.0, 0.0], [5.0, 4.0, float("nan"), 3.0, 2.0, 1.0, 0.0], [1.0, float("nan"), 0.0]):
    seen += [ordered(values, len(values), order) for order in (tantivy.Order.Asc, tantivy.Order.Desc)]
    print("added:", *values, "| ascending:", *seen[-2], "| descending:", *seen[-1])
parted = ["[4.0, 5.0, nan, 0.0, 1.0, 2.0, 3.0]", "[5.0, 4.0, nan, 3.0, 2.0, 1.0, 0.0]", "[1.0, nan, 0.0]", "[1.0, nan, 0.0]"]
sys.exit(seen[0] != [0.0, 1.0, 2.0, 3.0, 4.0, 5.0] or [str(found) for found in seen[2:]] != parted)
PYTHON
