#!/usr/bin/env bash
# In short:  of rows with one key the newest is always the last but one.
# Package:   sorted-array 2.0.4 (npm), arrays that stay sorted.
# One would guess: a row is inserted behind the rows that are equal to it, as a comment in its source promises ("equal elements inserted after will be in a
#   higher position").
# What happens: the search finds one of the equal rows and walks on to the end of them, but it stops one row too early where they are at the end of the
#   array. The second row is right, and each later one is put in front of the last one: a, b, c, d, e come as a, c, d, e, b. With a larger key behind them
#   they are in order.
# Why it matters: readings and events come in order of time, so those with the time of now are at the end of the array: exactly this case. The last row,
#   which is taken as the newest, is the second one for ever; differences of a counter turn negative. Two equal rows, or distinct keys, pass every test.
# Source:    sorted-array/sorted-array.js, insert (`high = array.length-1` and `pos < high`).
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts sorted-array@2.0.4; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const SortedArray = require('sorted-array');
const rows = (...names) => names.map((name) => ({ second: 100, name }));
const order = (...given) => SortedArray.comparing('second', given).array.map(({ name }) => name).join(' ');
const seen = {
  'two equal rows': order(...rows('a', 'b')),
  'three': order(...rows('a', 'b', 'c')),
  'five': order(...rows('a', 'b', 'c', 'd', 'e')),
  'five, and a later one that was there': order({ second: 101, name: 'z' }, ...rows('a', 'b', 'c', 'd', 'e')),
};
for (const [name, names] of Object.entries(seen)) console.log(`${name}: ${names}`);
process.exit(Object.values(seen).join(', ') === 'a b, a c b, a c d e b, a b c d e z' ? 0 : 1);
NODE
