#!/usr/bin/env bash
# In short:  a series that is thinned out has some samples twice.
# Package:   downsample 1.4.0 (npm), its LTOB ("Largest Triangle One Bucket"), 380 thousand downloads a month.
# One would guess: one sample is chosen from each bucket, buckets do not overlap, so every sample of the result is another one.
# What happens: a bucket begins at a number that is rounded down and ends at one that isn't, so two neighbours share the sample at their border wherever the
#   length is no multiple of the count. If it is the largest of both, a peak for instance, it is returned twice, and the second choice of one bucket is gone.
#   Of 1000 samples reduced to 300, 33 come twice. LTTB and LTD of the same package have each sample once.
# Why it matters: the count is right and the times are in order, so nothing looks wrong on a chart. A sum, a mean or an integral (energy from power) of the
#   reduced series counts peaks twice, times are no keys any more, and a difference of neighbours divides by 0. Lengths that are a multiple pass every test.
# Source:    downsample/methods/LTOB.js: startIndex has Math.floor, endIndex has Math.min alone.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts downsample@1.4.0; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const downsample = require('downsample');
const series = (length) => Array.from({ length }, (_, second) => [second, (second * 7919) % 1009]);
const twice = (name, length, count) => {
  const times = downsample[name](series(length), count).map(([time]) => time);
  return [times.length, times.filter((time, index) => index && time === times[index - 1]).length];
};
const seen = {
  'LTOB, 1000 to 300': twice('LTOB', 1000, 300), 'LTOB, 1000 to 250': twice('LTOB', 1000, 250),
  'LTTB, 1000 to 300': twice('LTTB', 1000, 300), 'LTD, 1000 to 300': twice('LTD', 1000, 300),
};
for (const [name, [count, repeated]] of Object.entries(seen)) console.log(`${name}: ${count} samples, ${repeated} of them again`);
const peak = series(9).map(([second]) => [second, second === 4 ? 500 : 1]);
const watts = downsample.LTOB(peak, 4);
console.log('9 samples of 1 W with a peak of 500 W in second 4, reduced to 4:', JSON.stringify(watts));
const expected = [[[300, 33], [250, 0], [300, 0], [300, 0]], [[0, 1], [4, 500], [4, 500], [8, 1]]];
process.exit(JSON.stringify([Object.values(seen), watts]) === JSON.stringify(expected) ? 0 : 1);
NODE
