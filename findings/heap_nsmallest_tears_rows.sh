#!/usr/bin/env bash
# In short:  the three smallest rows are two and a half rows, in pieces: 6, "m3", 13, "m4", 4, "m7".
# Package:   heap 0.2.7 (npm), a port of Python's heapq.
# One would guess: nsmallest() of rows like [watts, meter], with a comparison of the first field, returns three rows, as nlargest() does and as
#   Python's function does with tuples.
# What happens: a row that belongs among the smallest is put into the result by Array.concat, which takes an array apart, so its fields come in one by one.
#   From then on numbers and texts are compared as if they were rows, which is never "less", and the list grows by a field with each row. It is so from ten
#   times n rows on; with fewer rows, with objects or with plain numbers the result is right. Nothing is raised.
# Why it matters: [key, value] is how rows, edges and entries of a Map come. The result has another length than n and holds rows that are not the smallest.
#   Tests with less than 30 rows, or whose first rows are the smallest, pass.
# Source:    heap/lib/heap.js, insort: `[].splice.apply(a, [lo, lo - lo].concat(x))`.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ npm install --silent --no-audit --no-fund heap@0.2.7; } >&2 || exit 2
cat > finding.js <<'JS'
const Heap = require("heap");
const rows = (count) => Array.from({length: count}, (_, i) => [(i * 7 + 15) % count, `m${i}`]);
const byWatts = (a, b) => a[0] - b[0];
const right = (count) => rows(count).sort(byWatts).slice(0, 3);

const small = Heap.nsmallest(rows(29), 3, byWatts), large = Heap.nsmallest(rows(30), 3, byWatts);
const largest = Heap.nlargest(rows(30), 3, byWatts);
const objects = Heap.nsmallest(rows(30).map(([watts, meter]) => ({watts, meter})), 3, (a, b) => a.watts - b.watts);
console.log("29 rows, the three smallest:", JSON.stringify(small));
console.log("30 rows, the three smallest:", JSON.stringify(large), "\n          in place of:      ", JSON.stringify(right(30)));
console.log("30 rows, the three largest: ", JSON.stringify(largest));
console.log("30 objects:                 ", JSON.stringify(objects));
const same = JSON.stringify(small) === JSON.stringify(right(29)) && JSON.stringify(objects.map((o) => [o.watts, o.meter])) === JSON.stringify(right(30));
process.exit(same && large.some((part) => !Array.isArray(part)) && largest.every(Array.isArray) ? 0 : 1);
JS
node finding.js
