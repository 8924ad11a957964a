#!/usr/bin/env bash
# In short:  a value that is not in the array is found at index 0.
# Package:   binarysearch 1.0.1 (npm), searches in sorted arrays.
# One would guess: first() and last(), "the first key that matches", return -1 where none does; the README says so of the search as a whole.
# What happens: the search itself returns -1, but first() and last() return 0 for every value that is missing, below, between and above the values. In an array
#   of one value even the comparison is left out. 0 is also the answer for a value that is there, and at the start.
# Why it matters: a join or a merge by first() takes the row at the start of the table for each key without a partner, so one meter has the readings of
#   all that are unknown. A test for -1 or `>= 0` passes, and a test with a value that is there does too.
# Source:    binarysearch/index.js, closest: it brings what the search returned, -1 as well, into the range of the array, and first() and last() call it.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts binarysearch@1.0.1; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const search = require('binarysearch');
const seen = [];
for (const [values, wanted] of [[[10, 20, 20, 30], 20], [[10, 20, 20, 30], 10], [[10, 20, 20, 30], 5], [[10, 20, 20, 30], 25],
  [[10, 20, 20, 30], 99], [[10], 99]]) {
  const found = [search(values, wanted) < 0 ? 'none' : 'found', search.first(values, wanted), search.last(values, wanted)];
  console.log(`${wanted} in ${JSON.stringify(values)}: search ${found[0]}, first() ${found[1]}, last() ${found[2]}`);
  seen.push(found.join(' '));
}
process.exit(seen.join(', ') === 'found 1 2, found 0 0, none 0 0, none 0 0, none 0 0, none 0 0' ? 0 : 1);
NODE
