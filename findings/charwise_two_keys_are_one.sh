#!/usr/bin/env bash
# In short:  ["why??"] and ["why!"] are one key of an ordered store.
# Package:   charwise 3.0.1 (npm), keys for LevelDB and others that "sort like bytewise".
# One would guess: different keys have different encodings, each is decoded to what it was, and texts in arrays come in the order of the texts.
# What happens: within arrays "!" and the double quote are escaped with "?", and "?" itself only in texts that have one of these two. So "why??" and
#   "why!" have one encoding, which is decoded as "why!"; "?@" comes back as "?". An escaped "!" sorts as "?": "Hello!" comes behind "Hello$" and
#   "Hello2". Anywhere, "a\0" comes back as "a\x01", and "a\x01" as "a\x01\x01".
# Why it matters: arrays are how such keys are put together (table, column, id). The second row overwrites the first, is read back under a name
#   that was never written, and a range over a prefix misses names with "!". Keys of letters and digits pass every test.
# Source:    charwise/codec/array.js, escape: it looks for /[!"]/ before it replaces /[?!"]/; unescape has no such condition.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts charwise@3.0.1; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const charwise = require('charwise');
const back = (key) => charwise.decode(charwise.encode(key));
for (const key of [['why??'], ['why!'], ['?@'], 'why??', 'a\0', 'a\x01'])
  console.log(`${JSON.stringify(key)} is stored as ${JSON.stringify(charwise.encode(key))} and read back as ${JSON.stringify(back(key))}`);
const store = new Map([['why??', 'a question'], ['why!', 'a shout']].map(([word, value]) => [charwise.encode([word]), value]));
console.log(`two keys, ${store.size} in the store`);
const order = (words) => words.map((word) => [charwise.encode([word]), word]).sort((a, b) => (a[0] < b[0] ? -1 : 1)).map((pair) => pair[1]);
const ordered = order(['Hello', 'Hello!', 'Hello$', 'Hello2']);
console.log('in the order of the store:', ordered.join(', '));
process.exit(store.size === 1 && back(['why??'])[0] === 'why!' && back(['?@'])[0] === '?' && back('a\0') === 'a\x01' && ordered.indexOf('Hello!') === 3 ? 0 : 1);
NODE
