#!/usr/bin/env bash
# In short:  the left place of 0 in 1, 2, 3, 4 is behind the end, and that of 5 is the front.
# Package:   bisection 0.0.3 (npm), "a JavaScript port of the bisection algorithm that is used in Python".
# One would guess: left() is bisect_left of Python: the first index at which the array is not less than the value.
# What happens: bisection() and .right() are Python's bisect_right. left() has the comparison of right() with its two branches swapped, so it runs to the
#   wrong side: of an ascending array it returns 0 or the length for most values, and for none of 0 to 5 the right place. Nothing is raised.
# Why it matters: a range of equal keys is from left() to right(); here it is empty or backward, and a lower bound of times selects all rows or none.
#   right() is right, and a test with an array of one value passes.
# Source:    bisection/index.js, bisection.left (`x < array[mid]` and then low = mid + 1); Python's bisect.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts bisection@0.0.3; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const bisection = require('bisection');
const sorted = [1, 2, 3, 4];
const seen = [0, 1, 2, 3, 4, 5].map((value) => {
  const first = sorted.filter((other) => other < value).length;
  const behind = sorted.filter((other) => other <= value).length;
  console.log(`${value} in ${sorted}: left ${bisection.left(sorted, value)} (Python: ${first}), right ${bisection.right(sorted, value)} (Python: ${behind})`);
  return [bisection.left(sorted, value), bisection.right(sorted, value) === behind];
});
process.exit(seen.join(' ') === '4,true 4,true 4,true 0,true 0,true 0,true' ? 0 : 1);
NODE
