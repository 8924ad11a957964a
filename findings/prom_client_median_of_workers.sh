#!/usr/bin/env bash
# In short:  four workers whose median is 210 W have a median of 840 W together, four times what any of them has measured.
# Package:   prom-client 15.1.3 (npm), the client of Prometheus for Node.js, with its metrics of a cluster of workers.
# One would guess: a Summary that is collected from several workers has quantiles within what was observed, or none, as quantiles cannot be put together.
# What happens: every line of a metric is added up by default, the lines of the quantiles like those of the sum and the count. The median of four workers
#   with 200, 210 and 220 each is 840, and so on for each worker more. The option aggregator: "average" makes it 210, and the sum and the count, which were
#   right, a fourth of what they were. No choice is right for all lines. A Histogram is right.
# Why it matters: latencies and loads of a service seem to grow with its number of workers: a rise from 4 to 8 doubles the p99. The metric of one process,
#   and so each test, is right. The README says that metrics are summed, which is what a count needs.
# Source:    prom-client/lib/metricAggregators.js, AggregatorFactory (one function for all values of a metric), and lib/cluster.js (default "sum").
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ npm install --silent --no-audit --no-fund prom-client@15.1.3; } >&2 || exit 2
cat > finding.js <<'JS'
const {AggregatorRegistry, Registry, Summary} = require("prom-client");
async function worker(options) {
  const registry = new Registry();
  const watts = new Summary({name: "watts", help: "load", registers: [registry], percentiles: [0.5, 0.99], ...options});
  for (const value of [200, 210, 220]) watts.observe(value);
  return registry.getMetricsAsJSON();
}
async function main() {
  const seen = [];
  for (const [count, options] of [[1, {}], [4, {}], [8, {}], [4, {aggregator: "average"}]]) {
    const workers = await Promise.all(Array.from({length: count}, () => worker(options)));
    const text = await AggregatorRegistry.aggregate(workers).metrics();
    const number = (name) => Number(text.split("\n").find((line) => line.startsWith(name)).split(" ")[1]);
    seen.push(['watts{quantile="0.5"}', 'watts{quantile="0.99"}', "watts_sum", "watts_count"].map(number).join(" "));
    console.log(`${count} workers ${options.aggregator ?? ""}: median, p99, sum, count: ${seen.at(-1)}`);
  }
  const right = ["210 220 630 3", "840 880 2520 12", "1680 1760 5040 24", "210 220 630 3"];
  process.exit(seen.join() === right.join() ? 0 : 1);
}
main();
JS
node finding.js
