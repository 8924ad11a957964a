#!/usr/bin/env bash
# In short:  10^20 is read back as 7766279631452241920, and 2^64, 3 * 10^38 and 1.5 * 10^300 as 0.
# Package:   notepack.io 3.0.1 (npm), MessagePack for JavaScript; msgpack-lite 0.2.2 beside it.
# One would guess: a number that does not fit an integer of MessagePack is written as a float of 64 bits, as numbers of JavaScript are.
# What happens: every number without a fraction is written as an integer of 64 bits, however large it is, and what is above them is cut off. From 2^116 on
#   all that is left is 0. Below zero -10^19 becomes 8446744073709551616. A number with a fraction is written as a float and comes back as it was.
# Why it matters: large doubles HAVE no fraction: all of them from 2^53 on are whole. Sums of squares, products, a float's "largest" as a mark
#   of no limit (3.4 * 10^38, 1.8 * 10^308) come back as 0 or as some other number, and a minimum that begins with them stays 0.
# Source:    notepack.io/lib/encode.js: Math.floor(value) decides, and neither the branch of uint 64 nor that of int 64 has a bound.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts notepack.io@3.0.1 msgpack-lite@0.2.2; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const notepack = require('notepack.io');
const lite = require('msgpack-lite');
const numbers = [2 ** 63, 0.5, 2 ** 64, 1e20, -1e19, 3e38, 1.5e300, Number.MAX_VALUE];
const seen = numbers.map((number) => notepack.decode(notepack.encode(number)));
const other = numbers.every((number) => lite.decode(lite.encode(number)) === number);
numbers.forEach((number, at) => console.log(`${number} comes back as ${seen[at]}`));
console.log(`msgpack-lite brings all of them back: ${other}`);
const expected = [2 ** 63, 0.5, 0, Number(BigInt(1e20) % 2n ** 64n), 2 ** 64 - 1e19, 0, 0, 0];
process.exit(other && seen.join(' ') === expected.join(' ') ? 0 : 1);
NODE
