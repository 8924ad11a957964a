#!/usr/bin/env bash
# In short:  a sorted set counts 0 rows in a range that holds one.
# Package:   tlhunter-sorted-set 0.1.0 (npm), a skip list like Redis' sorted sets, 12 million downloads a month.
# One would guess: count(min, max) is the length of rangeByScore(min, max), as ZCOUNT of Redis is.
# What happens: it counts the steps between the first row and the last one and adds one, unless the steps are 0: then it returns 0. So a range with
#   exactly one row has the count 0. Ranges with none, two and more are right, and so is a range that covers the whole set.
# Why it matters: "is there anything in this minute", "how many above the limit", a quota: the first event is not seen, and a border at which one row
#   lies alone counts as free. The counts of neighbouring ranges add up to less than the set has, the more ranges the less. Tests with several rows pass.
# Source:    tlhunter-sorted-set/lib/set.js, count: `return count && count + 1`, whose author doubts it in a comment above.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts tlhunter-sorted-set@0.1.0; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const SortedSet = require('tlhunter-sorted-set');
const set = new SortedSet();
for (let i = 0; i < 1000; i++) set.add(`reading ${i}`, (i * 7919) % 1000);
let wrong = 0;
for (const [min, max] of [[500, 500], [500, 501], [500, 509], [999, 2000], [1000, 2000], [0, 999]]) {
  const rows = set.rangeByScore(min, max).length;
  console.log(`scores ${min} to ${max}: rangeByScore has ${rows}, count says ${set.count(min, max)}`);
  wrong += set.count(min, max) !== (rows === 1 ? 0 : rows);
}
let sum = 0;
for (let score = 0; score < 1000; score++) sum += set.count(score, score);
console.log(`1000 ranges of one score each: ${sum} of ${set.card()} rows`);
process.exit(wrong === 0 && sum === 0 ? 0 : 1);
NODE
