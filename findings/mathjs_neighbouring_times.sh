#!/usr/bin/env bash
# In short:  a sort leaves times in milliseconds unsorted, and the maximum of two of them is the smaller one.
# Package:   mathjs 15.2.0 (npm).
# One would guess: sort(), max() and setDistinct() of whole numbers that fit 53 bits are exact, as those of JavaScript are.
# What happens: numbers that differ by less than 1e-12 of their size are equal in all comparisons, those within sort(), max(), min(), mode() and the
#   sets too. Two times in milliseconds (1.8e12) one apart are "equal": 1000 times in a row, shuffled, come back with every second pair in the wrong
#   order, 497 of the 1000 are distinct, and max(t, t + 1) is t. From 1e13 on (account and order numbers, microseconds) whole blocks are equal.
# Why it matters: the tolerance (config relTol) is meant for results of arithmetic, and its page names compare() and larger(); sort() and max() just use
#   them. Small numbers and times in seconds pass every test; what is sorted so cannot be merged or searched, and duplicates are dropped that are none.
# Source:    mathjs/lib/cjs/function/matrix/sort.js (compare), statistics/max.js (larger), set/setDistinct.js; utils/number.js, nearlyEqual.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts mathjs@15.2.0; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const math = require('mathjs');
const noon = Date.UTC(2026, 10, 29, 12);
const times = Array.from({ length: 1000 }, (_, i) => noon + ((i * 389) % 1000));
const wrong = (sorted) => sorted.filter((time, i) => i > 0 && sorted[i - 1] > time).length;
const plain = [...times].sort((a, b) => a - b);
console.log(`1000 times in a row, shuffled: ${wrong(math.sort(times))} pairs in the wrong order behind sort(), ${wrong(plain)} behind Array.sort`);
console.log(`distinct: ${math.setDistinct(times).length} by setDistinct(), ${new Set(times).size} by Set`);
console.log(`max(t, t + 1) - t = ${math.max(noon, noon + 1) - noon}, Math.max(t, t + 1) - t = ${Math.max(noon, noon + 1) - noon}`);
const small = times.map((time) => time - noon);
console.log(`the same without the date: ${wrong(math.sort(small))} pairs in the wrong order, ${math.setDistinct(small).length} distinct`);
const seen = [wrong(math.sort(times)) > 300, wrong(plain) === 0, math.setDistinct(times).length < 600, math.max(noon, noon + 1) === noon];
process.exit(seen.every(Boolean) && wrong(math.sort(small)) === 0 ? 0 : 1);
NODE
