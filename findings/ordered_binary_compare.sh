#!/usr/bin/env bash
# In short:  the comparison of keys and the order of a store disagree, so a merge of two ranges is out of order.
# Package:   ordered-binary 1.6.3 (npm), the keys of the npm package lmdb.
# One would guess: compareKeys(a, b) says what comparing the encoded keys says; a comment in its source promises it.
# What happens: whole numbers beyond 2^53 are read back as BigInt, all others as numbers, and compareKeys puts every BigInt behind every number. The
#   key -2^60, first in the store, is "greater" than 3 for it. Mixed keys of one sign are affected too where a caller has small BigInts: 5n is greater
#   than 6, and 6 is less than 5n.
# Why it matters: two ranges of keys, each in order, come out of a merge by this function out of order as soon as one has a large negative key. No
#   error is raised, and keys that are all positive pass every test.
# Source:    ordered-binary/index.js, compareKeys: the last branch compares the types (typeOrder), not the values.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts ordered-binary@1.6.3; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const { compareKeys, toBufferKey, fromBufferKey } = require('ordered-binary');
const stored = (numbers) => numbers.map((n) => toBufferKey(n)).sort(Buffer.compare).map((bytes) => fromBufferKey(bytes));
const merge = (a, b) => {
  const out = [];
  while (a.length && b.length) out.push(compareKeys(a[0], b[0]) <= 0 ? a.shift() : b.shift());
  return out.concat(a, b);
};
const first = stored([3n, -(2n ** 60n) - 1n, 2n ** 60n + 1n]);
const second = stored([-4n, 5n]);
console.log('two ranges, as read:', first.join(' '), '|', second.join(' '));
const merged = merge([...first], [...second]);
console.log('merged:             ', merged.join(' '));
const inOrder = merged.every((key, i) => i === 0 || merged[i - 1] <= key);
console.log('in order:', inOrder, '; compareKeys(5n, 6):', compareKeys(5n, 6), '; by their bytes:', Buffer.compare(toBufferKey(5n), toBufferKey(6)));
process.exit(!inOrder && merged.length === 5 && compareKeys(5n, 6) === 1 && Buffer.compare(toBufferKey(5n), toBufferKey(6)) === -1 ? 0 : 1);
NODE
