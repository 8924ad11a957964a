#!/usr/bin/env bash
# In short:  of two gzip files that were joined by cat, as many bytes come out as the second one holds, from the start of the first.
# Package:   fflate 0.8.3 (npm), gzip and zlib for JavaScript.
# One would guess: gunzipSync() returns all members, as zcat and Node.js do and as the package's own stream Gunzip does, or raises an error.
# What happens: the result is as long as the last four bytes of the input say, which is the length of the last member alone, and it is filled from the first
#   member. With 2000 and 1000 bytes it is half of the first; with 1000 and 2000 it is the first, and with an
#   empty member at the end, as bgzip writes it, nothing. No error is raised.
# Why it matters: logs that are appended to, pieces of a sort that are joined, and files of bgzip are of several members. Rows are lost, the last one
#   may be cut in two, and what is left is in order, so it looks right. A file of one member passes every test.
# Source:    fflate's gunzipSync(), which makes its buffer with the size from the trailer; RFC 1952, 2.2 ("a series of members").
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts fflate@0.8.3; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const zlib = require('zlib');
const { gunzipSync, Gunzip } = require('fflate');
const rows = (from, count) => Buffer.from(Array.from({ length: count }, (_, i) => `${from + i}\n`).join(''));
const seen = [];
for (const counts of [[400, 200], [200, 400], [400, 0], [400]]) {
  const parts = counts.map((count, i) => rows(1000 + 1000 * i, count));
  const file = Buffer.concat(parts.map((part) => zlib.gzipSync(part)));
  let streamed = 0;
  const stream = new Gunzip((chunk) => { streamed += chunk.length; });
  stream.push(file, true);
  const got = [zlib.gunzipSync(file).length, streamed, gunzipSync(file).length];
  console.log(`members of ${counts.join(' and ')} rows of 5 bytes: Node.js ${got[0]} bytes, fflate's stream ${got[1]}, gunzipSync ${got[2]}`);
  seen.push(got.join(' '));
}
process.exit(seen.join(', ') === '3000 3000 1000, 3000 3000 1000, 2000 2000 0, 2000 2000 2000' ? 0 : 1);
NODE
