#!/usr/bin/env bash
# In short:  a mask of 1024 rows comes back with 408, although the README says that it has its old length.
# Package:   bitfield-rle 2.2.1 (npm), run-length encoding of bits.
# One would guess: decode(encode(mask)) is the mask. The README's example sets bit 400 of 1024 and notes of the result: "128 bytes (like the old bitfield)".
# What happens: zero bytes at the end are not written, and the length is stored nowhere. In the README's own example 51 bytes come back. A mask without any
#   row comes back with 0 bytes. Zeros in the middle are kept.
# Why it matters: such masks say which rows match, which are missing or which blocks are there. Counting the rows that do not match gives less by those at
#   the end, a table cut to the mask's length loses its last rows, and two masks of one table have different lengths. A test with a bit in the last byte
#   passes.
# Source:    bitfield-rle/index.js, rle (`while (state.inputLength > 0 && !input[...]) state.inputLength--`); README.md, "Usage".
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts bitfield-rle@2.2.1; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const rle = require('bitfield-rle');
const seen = [[400], [], [0, 1023]].map((rows) => {
  const mask = Buffer.alloc(128);
  rows.forEach((row) => { mask[row >> 3] |= 128 >> (row & 7); });
  const back = rle.decode(rle.encode(mask));
  const missing = (bytes) => bytes.reduce((count, byte) => count + 8 - byte.toString(2).replaceAll('0', '').length, 0);
  console.log(`rows [${rows}] of ${8 * mask.length}: ${8 * back.length} come back; not set: ${missing(mask)} before, ${missing(back)} after`);
  return back.length;
});
process.exit(seen.join(' ') === '51 0 128' ? 0 : 1);
NODE
