#!/usr/bin/env bash
# In short:  a digest of quantiles whose first reading is missing holds none of the others, and counts 1.
# Package:   tdigest 0.1.3 (npm).
# One would guess: a NaN (a gap) is refused, or left out, or makes the result NaN, wherever in the series it is.
# What happens: behind the first value it is left out without a word: of 1000 readings with one gap 999 are counted, and the median is right. As the
#   FIRST value it is kept, and everything that comes after it is left out: n is 1, all percentiles are NaN, and 999 good readings are gone.
# Why it matters: the first sample after a start is the one that is most often missing. A dashboard or a sampler of borders for a sort by ranges works
#   all day or is empty all day, by chance; merged with others, such a digest adds nothing, and the total count lacks a whole machine.
# Source:    tdigest/tdigest.js, compare_centroid_means: NaN is neither more nor less than another mean, so the tree of means takes it as equal to all.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts tdigest@0.1.3; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const { TDigest } = require('tdigest');
const seen = [];
for (const gap of [-1, 0, 1, 999]) {
  const digest = new TDigest();
  for (let i = 0; i < 1000; i++) digest.push(i === gap ? NaN : 230 + (i % 10));
  digest.compress();
  console.log(`1000 readings, ${gap < 0 ? 'no gap' : `number ${gap + 1} is a gap`}: n ${digest.n}, median ${digest.percentile(0.5)}`);
  seen.push(digest.n);
}
process.exit(seen.join(' ') === '1000 1 999 999' ? 0 : 1);
NODE
