#!/usr/bin/env bash
# In short:  the sum by keys has one key where the group by keys has three.
# Package:   apache-beam 2.77.0 (PyPI), its Python SDK with the runner that is the default.
# One would guess: CombinePerKey(sum) is GroupByKey and a sum of each group, as its documentation says, so both have the same keys.
# What happens: GroupByKey compares keys as they are encoded, and has 1, 1.0 and True, or 0.0 and -0.0, as keys of their own. CombinePerKey adds up
#   in a dictionary before that, in which Python takes them as equal: one key is left, and which of its forms depends on the input. Distinct() and
#   Count are CombinePerKey, so a column has fewer distinct values than groups.
# Why it matters: the key of one row is 1 and that of another 1.0 where a file has gaps (pandas makes floats of such a column), and -0.0 comes from
#   rounding. Sums by one way and groups by the other do not join. Where rows of one key are in different bundles the dictionary never sees both, so
#   how many keys there are is up to the runner.
# Source:    apache_beam/transforms/core.py, CombinePerKey ("Identifies sets of values associated with the same key");
#   runners/worker/operations.py, PGBKCVOperation.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: apache-beam==2.77.0; } >&2 || exit 2
cd "$dir" && "$dir/venv/bin/python" - 2> beam.log <<'PYTHON'
import sys

import apache_beam as beam

rows = [(1, 10), (2, 10), (1.0, 5), (True, 7), (2, 1), (0.0, 1), (-0.0, 1)]
ways = {
    "GroupByKey and sum": beam.GroupByKey() | beam.MapTuple(lambda key, values: (key, sum(values))),
    "CombinePerKey(sum)": beam.CombinePerKey(sum),
    "Distinct of the keys": beam.Keys() | beam.Distinct(),
}
seen = []
for name, way in ways.items():
    with open("out", "w") as file:
        file.write("")
    with beam.Pipeline() as pipeline:
        pipeline | beam.Create(rows) | way | beam.Map(lambda row: print(repr(row), file=open("out", "a")))
    found = sorted(open("out").read().splitlines())
    print(f"{name}: {len(found)} rows: {', '.join(found)}")
    seen.append(len(found))
sys.exit(seen != [6, 3, 3])
PYTHON
code=$?
[ "$code" -le 1 ] || cat beam.log >&2
exit "$code"
