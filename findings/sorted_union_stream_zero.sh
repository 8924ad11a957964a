#!/usr/bin/env bash
# In short:  a merge of sorted streams loses the 0 that waits for its turn.
# Package:   sorted-union-stream 3.2.3 with streamx 2.28.1 (npm).
# One would guess: the union of two sorted streams holds every number of both; its README shows it with numbers.
# What happens: one row of each stream is held until its turn comes, and a held row that is 0 or an empty text counts as "nothing there": the next
#   row of that stream replaces it. 0 survives where its turn comes at once (behind -1 of the same stream), and is lost where it is the first row or
#   waits for the other stream. No error; all other numbers are there, in order.
# Why it matters: keys and times that begin at 0, the first row of a file, an empty name. A union of counters or offsets lacks exactly its lowest row,
#   the result is in order, and tests with 1, 2, 3 pass. What was lost depends on the other stream, so a test of one file passes, too.
# Source:    sorted-union-stream/index.js, Peaker.read and _onreadable: `if (this.value)`.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts sorted-union-stream@3.2.3 streamx@2.28.1; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const Union = require('sorted-union-stream');
const { Readable } = require('streamx');
const union = (a, b) => new Promise((resolve, reject) => {
  const rows = [];
  new Union(Readable.from(a), Readable.from(b)).on('data', (row) => rows.push(row)).on('end', () => resolve(rows)).on('error', reject);
});
(async () => {
  const seen = [];
  for (const [a, b, name] of [[[1, 10, 24], [10, 42], 'as in the README'], [[0, 5], [1, 7], 'begins with 0'], [[1], [0], '0 on the right'], [['', 'b'], ['a'], 'an empty text'], [[-1, 0, 5], [0, 7], '0 behind -1']]) {
    const rows = await union(a, b);
    const lost = [...a, ...b].filter((row) => !rows.includes(row));
    console.log(`${name}: ${JSON.stringify(a)} and ${JSON.stringify(b)} give ${JSON.stringify(rows)}; lost: ${JSON.stringify(lost)}`);
    seen.push(lost);
  }
  process.exit(JSON.stringify(seen) === '[[],[0],[0],[""],[]]' ? 0 : 1);
})();
NODE
