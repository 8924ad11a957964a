#!/usr/bin/env bash
# In short:  1000 times in microseconds become 8 keys.
# Package:   lexicographic-integer 1.1.0 (npm), which makes keys of integers for ordered stores.
# One would guess: each integer that JavaScript holds exactly gets a key of its own, and unpack(pack(n)) is n.
# What happens: exact only below 2^44. From there on the low digits are cut: 1000 neighbouring times in microseconds have 8 different keys. Nothing is
#   raised, and the keys are in order.
# Why it matters: two numbers with one key are one entry of an ordered store: the second overwrites the first. Milliseconds since 1970 (41 bits) work,
#   so the tests pass; microseconds, nanoseconds, 48-bit hardware addresses, counters of microjoules and byte offsets of large files lose most of
#   their rows, in perfect order.
# Source:    lexicographic-integer/index.js, pack: above 2^32 a number is divided by a power of two, and the whole part of the quotient is kept.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts lexicographic-integer@1.1.0; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const { pack, unpack } = require('lexicographic-integer');
const keys = (from) => new Set(Array.from({ length: 1000 }, (_, i) => pack(from + i, 'hex'))).size;
const seen = { milliseconds: keys(1700000000000), 'the last below 2^44': keys(2 ** 44 - 1000), microseconds: keys(1700000000000000) };
for (const [name, count] of Object.entries(seen)) console.log(`1000 neighbouring numbers, ${name}: ${count} different keys`);
console.log('unpack(pack(1700000000000000)):', unpack(pack(1700000000000000, 'hex')));
process.exit(Object.values(seen).join() === '1000,1000,8' ? 0 : 1);
NODE
