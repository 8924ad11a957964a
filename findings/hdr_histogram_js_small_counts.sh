#!/usr/bin/env bash
# In short:  a histogram with counters of 16 bits starts again at 0 after 65535, so the commonest value vanishes from its percentiles.
# Package:   hdr-histogram-js 3.0.1 (npm), the histogram in which latencies and readings are collected.
# One would guess: with the option `bitBucketSize: 16`, which saves memory, a counter that is full stays full or raises an error, as
#   ShortCountsHistogram of the Java original does.
# What happens: the counter wraps to 0, and the total goes on. 65540 readings of 20 and 100 of 900: the total is 65640 and the median is 900, at once
#   and without an error; only `mean` raises one. With 8 bits it takes 256 equal readings.
# Why it matters: the steadier a machine is, the sooner it happens: what nearly all samples have is what is lost, and the rare values become the
#   median. A short rehearsal is right; only the long run is wrong.
# Source:    hdr-histogram-js, dist/TypedArrayHistogram.js: counts are elements of a Uint8Array or Uint16Array and are added to without a check;
#   README, the options of build().
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts hdr-histogram-js@3.0.1; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const { build } = require('hdr-histogram-js');
const seen = [16, 32].map((bitBucketSize) => {
  const histogram = build({ bitBucketSize, lowestDiscernibleValue: 1, highestTrackableValue: 1000, numberOfSignificantValueDigits: 3 });
  for (let i = 0; i < 65540; i++) histogram.recordValue(20);
  for (let i = 0; i < 100; i++) histogram.recordValue(900);
  const median = histogram.getValueAtPercentile(50);
  console.log(`${bitBucketSize} bits: total ${histogram.totalCount}, median ${median}`);
  return `${histogram.totalCount} ${median}`;
});
process.exit(seen.join() === '65640 900,65640 20' ? 0 : 1);
NODE
