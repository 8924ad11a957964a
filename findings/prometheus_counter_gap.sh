#!/usr/bin/env bash
# In short:  one missing reading ends a counter of energy for good.
# Package:   prometheus-client 0.26.0 (PyPI) and prom-client 15.1.3 (npm), Prometheus' clients for Python and Node.js.
# One would guess: inc(NaN) is refused, as inc(-1) is, since a counter can only go up.
# What happens: NaN is not less than 0, so both take it. The counter is NaN from then on, whatever is added, until the process starts again. In
#   Python a histogram leaves it out of its count and has NaN as its sum for ever. Nothing is raised or logged.
# Why it matters: joules and bytes are added up from readings, and one failed reading is enough: no rate and no total that is computed from
#   the counter is a number any more. A restart repairs it, so nobody finds out why.
# Source:    prometheus_client/metrics.py, Counter.inc: `if amount < 0`; prom-client/lib/counter.js, inc. (The histogram of prom-client refuses it.)
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q --only-binary :all: prometheus-client==0.26.0; } >&2 || exit 2
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts prom-client@15.1.3; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
"$dir/venv/bin/python" - <<'PYTHON' || exit 1
import sys

from prometheus_client import CollectorRegistry, Counter, Histogram

registry = CollectorRegistry()
counter = Counter("energy_joules", "-", registry=registry)
histogram = Histogram("power_watts", "-", registry=registry, buckets=(100, 300))
for reading in (230.0, float("nan"), 240.0):
    counter.inc(reading)
    histogram.observe(reading)
try:
    counter.inc(-1)
    refused = False
except ValueError as error:
    refused = True
    print("Python, inc(-1):", error)
names = ("energy_joules_total", "power_watts_sum", "power_watts_count")
seen = {name: registry.get_sample_value(name) for name in names}
print("Python, 230, NaN and 240:", seen)
sys.exit(not refused or [str(value) for value in seen.values()] != ["nan", "nan", "2.0"])
PYTHON
node - <<'NODE'
const client = require('prom-client');
const counter = new client.Counter({ name: 'energy_joules', help: '-' });
[230, NaN, 240].forEach((reading) => counter.inc(reading));
counter.get().then(({ values: [{ value }] }) => {
  console.log('Node.js, 230, NaN and 240:', value);
  process.exit(Number.isNaN(value) ? 0 : 1);
});
NODE
