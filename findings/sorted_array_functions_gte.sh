#!/usr/bin/env bash
# In short:  "the index of the first value that is >=" is one in the middle of the equal ones.
# Package:   sorted-array-functions 1.3.0 (npm), searches in sorted arrays, 15 million downloads a month.
# One would guess: gte(list, value) is where a range from this value on begins, as its README says ("the first value that is >=").
# What happens: a search by halves ends at the first equal value that it meets, and gte() returns this one. In 1 2 2 2 2 2 3 the range from 2 on begins
#   at index 3, behind two of the five. gt() and lt() are right, and so is gte() where the value is not in the list, or there once.
# Why it matters: list.slice(gte(list, from), gt(list, to)) is how a range is taken from sorted rows. Rows with the key of its lower end are lost, which
#   ones depends on the length of the list: the same range of two lists with the same rows from `from` on has different rows. Keys that are unique pass
#   every test; times in seconds, prices and names are not.
# Source:    sorted-array-functions/README.md, gte; index.js: gte() goes up from where indexOf() ended, and indexOf() ends at any equal value.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts sorted-array-functions@1.3.0; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const { gte, gt } = require('sorted-array-functions');
const seen = [];
for (const text of ['1 2 2 2 2 2 3', '2 2 2 2 2 3', '1 1 1 1 2 2 2 2 2 3', '1 2 3']) {
  const list = text.split(' ').map(Number);
  const range = list.slice(gte(list, 2), gt(list, 2));
  console.log(`${text}: the first >= 2 is at ${list.findIndex((value) => value >= 2)}, gte says ${gte(list, 2)}; from 2 to 2: ${range.length} rows`);
  seen.push(range.length);
}
let lost = 0;
for (let length = 1; length <= 100; length++) {
  const list = Array.from({ length }, (_, i) => Math.floor(i / 10));
  for (const value of new Set(list)) lost += gte(list, value) !== list.indexOf(value) ? 1 : 0;
}
console.log(`lists of 1 to 100 values, ten times each: gte is not at the first one in ${lost} of 550 searches`);
process.exit(seen.join(' ') === '3 3 5 1' && lost > 300 ? 0 : 1);
NODE
