#!/usr/bin/env bash
# In short:  of two meters' histograms one is left, without a name, with the buckets of the second and no count.
# Package:   parse-prometheus-text-format 1.1.1 (npm), which reads what a Prometheus exporter prints.
# One would guess: each set of labels is a series of its own, as it is with its counters and gauges.
# What happens: all samples of a histogram or summary become one object. Its buckets are keyed by "le" alone, so those of a later series replace the earlier
#   ones. The labels are dropped, and _count and _sum are read only where they have none. Where one series has more buckets than the next the result has
#   some of each: 5 readings up to 10 ms, and 900 up to 25 ms.
# Why it matters: histograms of latency or power nearly always have labels (host, disk, meter). The percentiles are those of the last one in the text, or of
#   a mixture in which no counter need grow. Histograms without labels, as in the README, pass every test.
# Source:    parse-prometheus-text-format/dist/parse-prometheus-text-format.cjs.js, flattenMetrics; Prometheus, "Exposition formats" (labels distinguish
#   series).
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts parse-prometheus-text-format@1.1.1; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const parse = require('parse-prometheus-text-format');
const series = (disk, buckets, count, sum) => [
  ...Object.entries(buckets).map(([le, n]) => `read_ms_bucket{disk="${disk}",le="${le}"} ${n}`),
  `read_ms_sum{disk="${disk}"} ${sum}`, `read_ms_count{disk="${disk}"} ${count}`,
];
const text = (...parts) => ['# TYPE read_ms histogram', ...parts.flat(), ''].join('\n');
const a = series('a', { 10: 800, 25: 900, '+Inf': 1000 }, 1000, 9000);
const b = series('b', { 10: 5, '+Inf': 6 }, 6, 70);
const show = (name, input) => {
  const found = JSON.stringify(parse(input)[0].metrics);
  console.log(`${name}: ${found}`);
  return found;
};
const seen = [
  show('no labels', text(['read_ms_bucket{le="10"} 5', 'read_ms_bucket{le="+Inf"} 6', 'read_ms_sum 70', 'read_ms_count 6'])),
  show('disk a, disk b', text(a, b)),
  show('disk b, disk a', text(b, a)),
];
const expected = [
  '[{"buckets":{"10":"5","+Inf":"6"},"count":"6","sum":"70"}]',
  '[{"buckets":{"10":"5","25":"900","+Inf":"6"}}]',
  '[{"buckets":{"10":"800","25":"900","+Inf":"1000"}}]',
];
process.exit(JSON.stringify(seen) === JSON.stringify(expected) ? 0 : 1);
NODE
