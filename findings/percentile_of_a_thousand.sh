#!/usr/bin/env bash
# In short:  p99.9 of a thousand readings is the maximum, and p7 of a hundred is the eighth one.
# Package:   percentile 1.6.0 (npm), percentiles by the nearest rank.
# One would guess: of 1 to 1000 the 99.9th percentile is 999, as the 90th is 900: the rank is 1000 * 99.9 / 100, which is whole.
# What happens: 99.9 is divided by 100 first, which is 0.9990000000000001 as a double; a thousand of it is rounded up to the rank 1000. Of 1 to 100 the
#   percentiles 7, 14, 28, 55 and 56 are one too high for the same reason, and the others are right. Of 10000 values p99.9 is the 9991st.
# Why it matters: p99.9 is what a limit for latency or for peaks of power is set by. With 1000 values it is the one wild reading that it is meant to leave
#   out. 50, 90, 95 and 99 are right for round numbers of values, so tests pass.
# Source:    percentile/lib/index.js, getPsValue: Math.ceil(list.length * (p / 100)) - 1.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts percentile@1.6.0; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const percentile = require('percentile');
const upTo = (count) => Array.from({ length: count }, (_, i) => i + 1);
const wrong = Array.from({ length: 100 }, (_, i) => i + 1).filter((p) => percentile(p, upTo(100)) !== p);
console.log('1 to 100: percentiles that are not their own number:', wrong.map((p) => `p${p} = ${percentile(p, upTo(100))}`).join(', '));
const seen = [[50, 1000], [90, 1000], [99, 1000], [99.9, 1000], [99.9, 10000]].map(([p, count]) => {
  const found = percentile(p, upTo(count));
  console.log(`p${p} of 1 to ${count}: ${found}`);
  return found;
});
const watts = [...Array(999).fill(230), 65535];
console.log(`p99.9 of 999 readings of 230 W and one of 65535 W: ${percentile(99.9, watts)} W`);
process.exit([wrong, seen, percentile(99.9, watts)].join(' ') === '7,14,28,55,56 500,900,990,1000,9991 65535' ? 0 : 1);
NODE
