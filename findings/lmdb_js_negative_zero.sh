#!/usr/bin/env bash
# In short:  the key -0 comes back as an array, behind infinity.
# Package:   lmdb 3.5.6 (npm), with the order-preserving keys of ordered-binary 1.6.3.
# One would guess: the number -0 is the key 0, as in a Map of JavaScript, or a key of its own directly below 0.
# What happens: -0 is stored as a key behind all numbers, infinity included, and before all texts. getKeys() returns it as an array, ['\x18', null]. A
#   range from -1 to 1 does not meet it, and a lookup of 0 does not find it.
# Why it matters: Math.round(-0.4), -1 * 0 and many parsers make -0, and === takes it as 0, so no caller sees it coming. A row with such a key is in
#   the store, but out of every range of numbers, and a reader of the keys gets an array where it expects a number. Keys of negative and positive
#   numbers of all other sizes are in order.
# Source:    ordered-binary/index.js, writeKey: a number gets the form of the negative ones if it is less than 0, which -0 is not, but its sign bit is
#   set all the same.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts lmdb@3.5.6 ordered-binary@1.6.3; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const { open } = require('lmdb');
(async () => {
  const store = open({ path: 'store' });
  for (const key of [-1, -0, 0, 1, Infinity, 'text']) await store.put(key, Object.is(key, -0) ? 'of -0' : `of ${key}`);
  const keys = [...store.getKeys()];
  const range = [...store.getRange({ start: -1, end: 1 })].map(({ value }) => value);
  console.log('keys in order:  ', ...keys);
  console.log('from -1 below 1:', range.join(', '));
  console.log(`get(0) is "${store.get(0)}", get(-0) is "${store.get(-0)}"`);
  await store.close();
  const same = JSON.stringify(keys) === '[-1,0,1,null,["\\u0018",null],"text"]' && range.join() === 'of -1,of 0';
  process.exit(same ? 0 : 1);
})();
NODE
