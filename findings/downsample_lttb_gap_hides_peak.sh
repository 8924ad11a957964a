#!/usr/bin/env bash
# In short:  one missing reading hides the peak that came before it.
# Package:   downsample-lttb 0.0.1 (npm), "Largest Triangle Three Buckets", which thins out series and keeps their peaks.
# One would guess: a NaN (a gap) is left out or kept as a gap, and the points around it are chosen as they are without it.
# What happens: the point of a bucket is the one with the largest triangle to the mean of the NEXT bucket. One NaN there makes this mean NaN, no area is
#   larger than another, and the point of the bucket BEFORE is taken once more. 1000 readings of about 100 with a peak of 5000 and a gap 11 readings
#   later: without the gap the peak is in the result, with it the largest value is 110, and one point is in it twice. Length and ends are as always.
# Why it matters: the method is taken because a mean hides peaks. A meter that drops a reading while the load is high, as a busy one does, has its peak
#   removed from the chart and from all that is computed of the thinned series (a maximum, an alarm); a point that is there twice counts twice in sums.
# Source:    downsample-lttb/index.js: avg_y adds the values of the next bucket; max_area_point keeps its last value where no area is larger.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts downsample-lttb@0.0.1; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const { processData } = require('downsample-lttb');
const seen = [];
for (const gap of [-1, 466, 700]) {
  const series = Array.from({ length: 1000 }, (_, i) => [i, i === 455 ? 5000 : i === gap ? NaN : 100 + ((i * 37) % 11)]);
  const thin = processData(series, 102);
  const largest = Math.max(...thin.map(([, value]) => value));
  const different = new Set(thin.map(([time]) => time)).size;
  console.log(`peak of 5000 at 455, ${gap < 0 ? 'no gap' : `gap at ${gap}`}: ${thin.length} points, ${different} different, largest value ${largest}`);
  seen.push(thin.length, different, largest);
}
process.exit(seen.join(' ') === '102 102 5000 102 101 110 102 101 5000' ? 0 : 1);
NODE
