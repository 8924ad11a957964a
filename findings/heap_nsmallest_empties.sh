#!/usr/bin/env bash
# In short:  a question for the three smallest readings takes them out of the list, if the list has less than thirty.
# Package:   heap 0.2.7 (npm), a port of Python's heapq.
# One would guess: Heap.nsmallest(readings, 3) returns the three smallest and leaves the list as it is, as nlargest() of the package, Array.slice and the
#   function of the same name in Python do.
# What happens: from ten times n values on a copy is used, and the list stays as it is. With fewer values the caller's own list is made into a heap and
#   the results are popped off it: of 8 readings 5 are left, in another order. A second call returns the next three. Nothing is raised.
# Why it matters: the smallest readings, jobs or offers are asked for, and then the rest is used: the mean, the sum and the count are those of what is left.
#   Days with many readings are right and days with few are wrong, and a test that looks at the result passes.
# Source:    heap/lib/heap.js, nsmallest: `n * 10 <= array.length`, else heapify(array) and heappop(array); its README says nothing about the list.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ npm install --silent --no-audit --no-fund heap@0.2.7; } >&2 || exit 2
cat > finding.js <<'JS'
const Heap = require("heap");
const seen = [];
for (const count of [8, 29, 30]) {
  const readings = Array.from({length: count}, (_, i) => 230 + ((i * 7) % count));
  const sum = readings.reduce((a, b) => a + b);
  const largest = Heap.nlargest(readings, 3);
  const first = Heap.nsmallest(readings, 3), left = readings.length, second = Heap.nsmallest(readings, 3);
  console.log(`${count} readings: the largest ${largest}; the smallest ${first}; then the list has ${left}; asked again: ${second}`);
  console.log(`   sum before ${sum}, after both ${readings.reduce((a, b) => a + b)}`);
  seen.push([left, second[0]]);
}
process.exit(JSON.stringify(seen) === JSON.stringify([[5, 233], [26, 233], [30, 230]]) ? 0 : 1);
JS
node finding.js
