#!/usr/bin/env bash
# In short:  a histogram with counters of 16 bits forgets 65536 equal readings, and its median becomes 0.
# Package:   hdr-histogram-js 3.0.1 (npm), the histogram in which latencies and readings are collected.
# One would guess: with the option `bitBucketSize: 16`, which saves memory, a counter that is full stays full or raises an error; the code has such an
#   error.
# What happens: the counter wraps to 0, and the total goes on. After 65540 readings of 20 and 100 of 900 the total is 65640, and every percentile from
#   the first on is 0, as the counts no longer add up to it. Nothing is raised at recording or asking. With 8 bits it takes 256 equal readings.
# Why it matters: the steadier a machine is, the sooner it happens. A rehearsal is right and only the long run is wrong, with a median of 0 that reads
#   as "faster than the clock can tell apart".
# Source:    hdr-histogram-js, dist/TypedArrayHistogram.js, incrementCountAtIndex: it asks whether the new count is negative, which an element of a
#   Uint16Array never becomes.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts hdr-histogram-js@3.0.1; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const { build } = require('hdr-histogram-js');
const seen = [16, 32].map((bitBucketSize) => {
  const histogram = build({ bitBucketSize, lowestDiscernibleValue: 1, highestTrackableValue: 1000, numberOfSignificantValueDigits: 3 });
  for (let i = 0; i < 65540; i++) histogram.recordValue(20);
  for (let i = 0; i < 100; i++) histogram.recordValue(900);
  const percentiles = [1, 50, 99.9].map((percent) => histogram.getValueAtPercentile(percent)).join(' ');
  console.log(`${bitBucketSize} bits: total ${histogram.totalCount}, percentiles 1, 50 and 99.9: ${percentiles}`);
  return `${histogram.totalCount}: ${percentiles}`;
});
process.exit(seen.join() === '65640: 0 0 0,65640: 20 20 900' ? 0 : 1);
NODE
