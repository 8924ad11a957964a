#!/usr/bin/env bash
# In short:  12 to 18 is added to a set of 10 to 20 and 30 to 40, and 30 to 40 is gone.
# Package:   int-interval-set 0.1.3 (npm), sets of whole numbers as intervals, for "timestamps and sequential id numbers".
# One would guess: a union holds all that either side had; adding what is there already changes nothing.
# What happens: where both ends of the new interval lie in one that is there, two are removed: that one and the next. 10 to 20 once more has the same
#   effect. A single number in an interval cuts it off: with 15 added 10 to 20 becomes 10 to 15. Where the new one touches two intervals, or none, all is
#   right.
# Why it matters: such sets hold which rows, blocks or seconds are done or were measured. What is added twice, after a retry for instance, takes the next
#   piece out of the set, so it is done again or is counted as a gap. The README's examples add each piece once.
# Source:    int-interval-set/src/int-interval-set.js, union (`deletes` is 1 for the interval that holds both ends, and is then increased for the same one).
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts int-interval-set@0.1.3; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const IntIntervalSet = require('int-interval-set');
const text = (set) => set.intervals.map(({ lower, upper }) => `${lower}-${upper}`).join(', ');
const seen = [[12, 18], [10, 20], [15, 15], [18, 25], [15, 35], [22, 25]].map(([lower, upper]) => {
  const set = new IntIntervalSet().union(10, 20).union(30, 40).union(50, 60);
  const before = text(set);
  set.union(lower, upper);
  console.log(`${before} and ${lower}-${upper}: ${text(set)}`);
  return text(set);
});
const expected = ['10-20, 50-60', '10-20, 50-60', '10-15, 30-40, 50-60', '10-25, 30-40, 50-60', '10-40, 50-60', '10-20, 22-25, 30-40, 50-60'];
process.exit(JSON.stringify(seen) === JSON.stringify(expected) ? 0 : 1);
NODE
