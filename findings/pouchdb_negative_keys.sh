#!/usr/bin/env bash
# In short:  one in five negative keys comes back changed, and neighbouring ones share a text.
# Package:   pouchdb-collate 9.0.0 (npm), the order of PouchDB's and CouchDB's keys as text.
# One would guess: parseIndexableString(toIndexableString(key)) is the key again, and different numbers have different texts, as PouchDB's indexes
#   store keys as these texts only.
# What happens: a negative number is stored as 10 minus its digits, which rounds: -256 comes back as -256.00000000000006. One in five whole numbers
#   from -1 to -999999 comes back changed. Of 1000 neighbouring times in microseconds before 1970 nearly half share their text with the next. All
#   positive numbers come back.
# Why it matters: an index of power that flows both ways, or of differences, returns keys that were never stored, so a lookup by a returned key or a
#   sum by keys is off, and a group by such keys joins different ones. The order is right, so nobody looks.
# Source:    pouchdb-collate/lib/index.js, numToIndexableString: the factor is subtracted from 10 and written with 20 digits, as a 64-bit float.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts pouchdb-collate@9.0.0; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const { toIndexableString, parseIndexableString } = require('pouchdb-collate');
const back = (key) => parseIndexableString(toIndexableString(key));
const changed = { negative: 0, positive: 0 };
for (let n = 1; n < 1e6; n++) {
  changed.negative += back(-n) !== -n;
  changed.positive += back(n) !== n;
}
const texts = (sign) => new Set(Array.from({ length: 1000 }, (_, i) => toIndexableString(sign * (1700000000000000 + i)))).size;
console.log(`-256 comes back as ${back(-256)}, -1700000000000 as ${back(-1700000000000)}`);
console.log(`changed of the 999999 whole numbers up to 999999: ${changed.negative} negative ones, ${changed.positive} positive ones`);
console.log(`texts of 1000 neighbouring numbers of 16 digits: ${texts(-1)} of negative ones, ${texts(1)} of positive ones`);
process.exit(back(-256) !== -256 && changed.negative > 1e5 && changed.positive === 0 && texts(-1) < 600 && texts(1) === 1000 ? 0 : 1);
NODE
