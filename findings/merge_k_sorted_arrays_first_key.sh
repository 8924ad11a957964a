#!/usr/bin/env bash
# In short:  a merge in which the last version of a row wins keeps the first version of the smallest key.
# Package:   merge-k-sorted-arrays 2.1.0 (npm), its `unique: true`.
# One would guess: "the last occurrence of a value in the last array containing that value wins", as the README says; so it does for each key.
# What happens: the first row that is popped is always given out, whatever is behind it in its array, and the later versions of its key are then taken for
#   duplicates. For all other keys the last version of the array wins. Nothing is raised.
# Why it matters: runs with several versions of a key are merged so: changes of a customer, corrected readings. One key of the result, the smallest one, has
#   its old value, and all others the new one. The README's example has its smallest value once, and tests with plain numbers cannot see which of two equal
#   ones they got.
# Source:    merge-k-sorted-arrays/index.js, merge (`!unique || !prev || ...`: the comparison with the next row is skipped while there is no prev).
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts merge-k-sorted-arrays@2.1.0; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const merge = require('merge-k-sorted-arrays');
const comparator = (a, b) => a.meter - b.meter;
const versions = (...meters) => meters.flatMap((meter) => [{ meter, text: 'old' }, { meter, text: 'new' }]);
const kept = (...arrays) => merge(arrays, { comparator, unique: true }).map(({ meter, text }) => `${meter}: ${text}`).join(', ');
const seen = [kept(versions(1, 2, 3)), kept(versions(1, 3), versions(2, 4)), kept(versions(3), versions(1, 2), versions(2, 4))];
seen.forEach((text, i) => console.log(`${i + 1} array(s): ${text}`));
const expected = ['1: old, 2: new, 3: new', '1: old, 2: new, 3: new, 4: new', '1: old, 2: new, 3: new, 4: new'];
process.exit(JSON.stringify(seen) === JSON.stringify(expected) ? 0 : 1);
NODE
