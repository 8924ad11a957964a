#!/usr/bin/env bash
# In short:  keys of two numbers are in the order of their texts: [1, 10] before [1, 9], and -1 before -2.
# Package:   sorted-btree 2.1.0 (npm), a sorted map.
# One would guess: keys that are arrays of numbers or texts, which its readme lists among the supported ones, are compared element by element.
# What happens: they are compared as JavaScript compares arrays: by the texts that their elements make, joined by commas. [1, 10] comes before [1, 9],
#   [-1, 0] before [-2, 0], and a range from [1, 9] to [1, 10] is empty. Texts with a comma collide: ["Smith, J", "x"] and ["Smith", " J,x"] are one key,
#   and the second value replaces the first. Keys that are single numbers are right.
# Why it matters: an array is how a key of two columns (meter and time, shelf and place) is written. Ranges over such keys lose rows, a merge with a list
#   that is sorted by columns is out of order, and a row disappears; numbers of equal length (years, times in milliseconds) pass every test.
# Source:    sorted-btree/readme.md (the keys that are supported without a comparator); b+tree.js, defaultComparator: `a < b` of two arrays.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts sorted-btree@2.1.0; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const BTree = require('sorted-btree').default;
const readings = new BTree();
for (const key of [[1, 9], [1, 10], [2, 1], [10, 1], [-1, 0], [-2, 0]]) readings.set(key, true);
const order = JSON.stringify(readings.keysArray());
const range = JSON.stringify(readings.getRange([1, 9], [1, 10], true));
console.log('pairs in order:', order, '; from [1,9] to [1,10]:', range);
const names = new BTree();
names.set(['Smith, J', 'x'], 'first');
names.set(['Smith', ' J,x'], 'second');
console.log('two pairs of texts:', JSON.stringify(names.toArray()));
const dates = new BTree([[2, true], [10, true], [-1, true], [-2, true]]);
console.log('single numbers:', JSON.stringify(dates.keysArray()));
const joined = names.size === 1 && names.get(['Smith, J', 'x']) === 'second';
process.exit(order === '[[-1,0],[-2,0],[1,10],[1,9],[10,1],[2,1]]' && range === '[]' && joined ? 0 : 1);
NODE
