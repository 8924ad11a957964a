#!/usr/bin/env bash
# In short:  5000000000 is read as 705032704, and 2147483648 as -2147483648.
# Package:   quicvarint 0.1.4 (npm), integers of 1 to 8 bytes by RFC 9000, up to 2147483647 by its README.
# One would guess: what is larger than this limit is refused, as decode() does: "Cannot decode number greater than 2147483647".
# What happens: read(), which takes a DataView and an offset, checks nothing and shifts 32-bit integers: it returns the lowest 32 bits, with a sign.
#   decode() raises from 2^32 on, but returns negative numbers from 2^31 to 2^32 - 1. Both report that 8 bytes were used, so the next number is read from
#   the right place.
# Why it matters: another program that follows the RFC writes lengths, times and counters up to 2^62. An offset into a file beyond 2 GiB, or a counter in
#   Wh, goes back to the beginning or below 0, and a sort by it mixes the largest with the smallest. Numbers that the package itself encodes pass every
#   test.
# Source:    quicvarint/dist/index.js, read and decode; RFC 9000, section 16.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts quicvarint@0.1.4; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const { decode, read } = require('quicvarint');
const seen = [151288809941952652n, 5000000000n, 4294967296n, 2147483648n, 2147483647n].map((number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(number | (3n << 62n));
  const one = read(new DataView(bytes.buffer, bytes.byteOffset, 8), 0);
  let other;
  try {
    other = decode(bytes).value;
  } catch (error) {
    other = 'an error';
  }
  console.log(`${number}: read() returns ${one.value} (${one.usize} bytes), decode() ${other}`);
  return [one.value, other];
});
const expected = [[Number(BigInt.asIntN(32, 151288809941952652n)), 'an error'], [705032704, 'an error'], [0, 'an error'], [-2147483648, -2147483648], [2147483647, 2147483647]];
process.exit(JSON.stringify(seen) === JSON.stringify(expected) ? 0 : 1);
NODE
