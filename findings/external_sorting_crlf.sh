#!/usr/bin/env bash
# In short:  an external sort (Node.js) with the delimiter CR LF changes the records and their order.
# Package:   external-sorting 1.3.1 (npm).
# One would guess: with the documented option `delimiter: '\r\n'` lines that end in CR LF are sorted as their texts are.
# What happens: the reader looks for the whole delimiter and then skips one character. The LF stays at the front of the next record, in the
#   first pass and again in the second. All records but the first are compared and written with line feeds before their text, and
#   as runs of different passes carry different numbers of them, the order is wrong.
# Why it matters: the number of records is right and no error is reported. The README's own example for this option parses JSON, which ignores the line feeds.
# Source: external-sorting/dist/external-sorting.js, initialRun and FileParser.checkBuffer: slice(dIndex + 1).
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts external-sorting@1.3.1; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const fs = require('fs');
const sort = require('external-sorting').default;
const lines = Array.from({ length: 1000 }, (_, i) => String((i * 389) % 1000).padStart(4, '0'));
fs.writeFileSync('in.txt', lines.join('\r\n') + '\r\n');
const output = fs.createWriteStream('out.txt');
output.on('close', () => {
  const result = fs.readFileSync('out.txt', 'latin1').split('\r\n').slice(0, -1);
  const texts = result.map((record) => record.trim());
  const inOrder = texts.every((text, i) => i === 0 || texts[i - 1] <= text);
  const unchanged = result.filter((record) => lines.includes(record)).length;
  console.log(`${lines.length} records in, ${result.length} out, ${unchanged} of them unchanged, texts in order: ${inOrder}`);
  console.log('the first ones:', JSON.stringify(result.slice(0, 4)));
  process.exit(result.length === 1000 && unchanged < 10 && !inOrder ? 0 : 1);
});
sort({ input: fs.createReadStream('in.txt'), output, tempDir: '.', maxHeap: 100, delimiter: '\r\n' }).asc();
NODE
