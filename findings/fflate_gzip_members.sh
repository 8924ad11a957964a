#!/usr/bin/env bash
# In short:  a reader of gzip returns as much of the first member as the last one holds, and nothing at all of a BGZF file.
# Package:   fflate 0.8.3 (npm), beside Node.js's own zlib and pako 3.0.3.
# One would guess: a gzip file of several members, as `cat a.gz b.gz`, pigz, bgzip and log writers make them, is read to its end, as gzip,
#   Python and the package's own class Gunzip read it; or the first member is returned; or there is an error.
# What happens: gunzipSync(), gunzip() and decompressSync() take the size of the result from the last four bytes of the file, which is the size of
#   the LAST member, and fill it with the beginning of the FIRST one. What does not fit is dropped. A file that was appended to returns some bytes of
#   its oldest rows. A BGZF file ends with an empty member, so the result is empty; so is that of a file padded with zeros. Nothing is thrown.
# Why it matters: the result is a correct beginning of the data, cut anywhere, so a reader of rows sees a shorter table and, at most, a broken last
#   row. Compressed outputs of sorts that are written by several threads, and every file for tabix, are of this kind.
# Source:    fflate/lib/node.cjs, gzl (the size from the end) and gunzipSync; its type file says "Expands GZIP data" and names no limit.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts fflate@0.8.3 pako@3.0.3; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const zlib = require('zlib');
const fflate = require('fflate');
const pako = require('pako');
const rows = (from, to) => Buffer.from(Array.from({ length: to - from }, (_, i) => `${from + i},row\n`).join(''));
const monday = rows(0, 1000), tuesday = rows(1000, 1003), nothing = Buffer.alloc(0);
const seen = [];
for (const [name, members] of [['one member', [monday]], ['two members', [monday, tuesday]], ['BGZF: an empty member last', [monday, nothing]]]) {
  const file = Buffer.concat(members.map((member) => zlib.gzipSync(member)));
  const whole = Buffer.concat(members).length;
  const streamed = [];
  new fflate.Gunzip((part) => streamed.push(part.length)).push(file, true);
  const sizes = [zlib.gunzipSync(file).length, pako.ungzip(file).length, streamed.reduce((a, b) => a + b), fflate.gunzipSync(file).length, fflate.decompressSync(file).length];
  seen.push(sizes.slice(0, 3).every((size) => size === whole), sizes[3] === sizes[4], sizes[3] === members.at(-1).length);
  console.log(`${name}: ${whole} bytes; zlib ${sizes[0]}, pako ${sizes[1]}, Gunzip ${sizes[2]}, gunzipSync ${sizes[3]}, decompressSync ${sizes[4]}`);
  if (members.length > 1) console.log('  gunzipSync returned:', JSON.stringify(Buffer.from(fflate.gunzipSync(file)).toString()));
}
process.exit(seen.every(Boolean) ? 0 : 1);
NODE
