#!/usr/bin/env bash
# In short:  nlargest() returns the smallest numbers, and nsmallest() the largest ones.
# Package:   heap-js 2.7.1 (npm), a heap for JavaScript, 14 million downloads a month.
# One would guess: Heap.nlargest(3, numbers) returns the three largest, the largest first, as Python's heapq has it: the README lists both functions
#   under "Python's heapq interface", added "as in heapq".
# What happens: "largest" means nearest to the top of the heap. With the comparison that is the default the top is the smallest number, so nlargest()
#   returns the n smallest and nsmallest() the n largest, in the order of a heap. Nothing is raised.
# Why it matters: "the ten largest runs", "the peaks of the day" show the lowest ones. Where n is the length of the list, or all values are equal, the
#   result has the right members, so such a test passes; a threshold that is taken from it is far below what was meant. A comparison by a - b does not
#   help: only one that is turned about makes the names right.
# Source:    heap-js/README.md ("as in heapq"; further down "the n most valuable elements"); dist/heap-js.es5.js, Heap.nlargest (a heap with a limit).
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts heap-js@2.7.1; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const { Heap } = require('heap-js');
const watts = Array.from({ length: 100 }, (_, i) => (i * 37) % 100);
const sorted = (numbers) => [...numbers].sort((a, b) => a - b).join(' ');
const seen = { nlargest: Heap.nlargest(5, watts), nsmallest: Heap.nsmallest(5, watts), byNumber: Heap.nlargest(5, watts, (a, b) => a - b) };
console.log('100 readings from 0 to 99, shuffled');
console.log('nlargest(5):         ', seen.nlargest.join(' '));
console.log('nlargest(5), a - b:  ', seen.byNumber.join(' '));
console.log('nsmallest(5):        ', seen.nsmallest.join(' '));
console.log('nlargest(5), b - a:  ', Heap.nlargest(5, watts, (a, b) => b - a).join(' '));
process.exit(sorted(seen.nlargest) === '0 1 2 3 4' && sorted(seen.byNumber) === '0 1 2 3 4' && sorted(seen.nsmallest) === '95 96 97 98 99' ? 0 : 1);
NODE
