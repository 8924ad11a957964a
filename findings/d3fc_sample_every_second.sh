#!/usr/bin/env bash
# In short:  "Largest Triangle Three Buckets" with buckets of two takes every second sample, and loses a peak of 5000 W among them.
# Package:   @d3fc/d3fc-sample 5.0.2 (npm), which thins out series for charts; esbuild 0.25.10 bundles its modules.
# One would guess: of each bucket the sample is kept that has the largest triangle with the one kept before and the mean of the NEXT bucket, so peaks stay.
# What happens: the mean is that of the bucket itself. Two samples are equally far from their own mean, so their triangles are equal and the first of them is
#   kept, whatever the values are. A peak of 5000 W over 230 W at an even place is gone, at an odd place it is kept. Larger buckets
#   are not so blind, but choose by a triangle that is not the one of the method.
# Why it matters: a chart of power with half of the samples is made to look as the full one does. It shows a peak or does not by whether its time is odd or
#   even, and an alternating load (0 W, 460 W) is a flat line.
# Source:    @d3fc/d3fc-sample/src/largestTriangleThreeBucket.js: allBuckets[i + 1], whose first entry is the first sample, so the next one would be [i + 2].
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts @d3fc/d3fc-sample@5.0.2 esbuild@0.25.10; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
cat > thin.mjs <<'NODE'
import { largestTriangleThreeBucket } from '@d3fc/d3fc-sample';
const sampler = largestTriangleThreeBucket().x((sample) => sample[0]).y((sample) => sample[1]);
const thinned = (watts, size) => sampler.bucketSize(size)(Array.from({ length: 102 }, (_, time) => [time, watts(time)]));
const highest = (samples) => Math.max(...samples.map((sample) => sample[1]));
const seen = [];
for (const at of [50, 51]) {
  seen.push(highest(thinned((time) => (time === at ? 5000 : 230), 2)));
  console.log(`102 samples of 230 W, a peak of 5000 W at ${at}: the highest one that is kept has ${seen.at(-1)} W`);
}
const wild = thinned((time) => (time * 7919) % 997, 2);
seen.push(wild.slice(1, -1).every((sample) => sample[0] % 2 === 1));
console.log(`102 samples of which each is another: ${wild.length} kept, all of them of odd times but the ends: ${seen[2]}`);
seen.push(new Set(thinned((time) => (time % 2) * 460, 2).slice(1, -1).map((sample) => sample[1])).size);
console.log(`0 and 460 W in turns: different values among those kept: ${seen[3]}`);
process.exit(seen.join(' ') === '230 5000 true 1' ? 0 : 1);
NODE
node_modules/.bin/esbuild thin.mjs --bundle --platform=node --log-level=warning --outfile=thin.cjs || exit 2
node thin.cjs
