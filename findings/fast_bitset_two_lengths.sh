#!/usr/bin/env bash
# In short:  of two sets a equals b, and b does not equal a; "a or b" lacks rows of b, and "b or a" has them.
# Package:   fast-bitset 1.3.2 (npm), sets of row numbers as bits.
# One would guess: sets of different capacity are compared and joined by what is in them, or are refused.
# What happens: each operation runs over the words of the set on which it is called. A shorter one drops, and does not see, what the longer one has behind
#   its end: isEqual() is true, and or() and xor() lose rows. Called on the longer one the same pair gives the other answer. Nothing is raised.
# Why it matters: masks of two files, or of a table that has grown since, have different lengths. A filter "a or b" returns fewer rows than b alone, and a
#   check that nothing was lost says equal. Masks of one length, or of less than 31 rows, pass every test.
# Source:    fast-bitset/app/BitSet.js, _op and isEqual, which loop over the words of `this`; its README says nothing about lengths.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts fast-bitset@1.3.2; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const Rows = require('fast-bitset');
const rows = (length, ...set) => {
  const bits = new Rows(length);
  set.forEach((row) => bits.set(row));
  return bits;
};
const a = rows(31, 3, 7);
const b = rows(1000, 3, 7, 500, 999);
const seen = {
  'a.isEqual(b)': a.isEqual(b), 'b.isEqual(a)': b.isEqual(a), 'b.isSubsetOf(a)': b.isSubsetOf(a),
  'a.or(b)': a.or(b).getIndices(), 'b.or(a)': b.or(a).getIndices(), 'a.xor(b)': a.xor(b).getIndices(), 'b.xor(a)': b.xor(a).getIndices(),
};
console.log('a:', a.getIndices(), 'b:', b.getIndices());
for (const [name, value] of Object.entries(seen)) console.log(`${name}:`, value);
process.exit(JSON.stringify(Object.values(seen)) === '[true,false,false,[3,7],[3,7,500,999],[],[500,999]]' ? 0 : 1);
NODE
