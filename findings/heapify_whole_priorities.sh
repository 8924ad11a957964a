#!/usr/bin/env bash
# In short:  a queue by priority returns 1.9 before 1.2, 4294967300 before 5, and -1 last.
# Package:   heapify 1.0.2 (npm), a heap for JavaScript in typed arrays.
# One would guess: push(key, priority) takes any number, as the types of TypeScript say, or refuses what it cannot hold.
# What happens: priorities are kept as unsigned integers of 32 bits unless the fifth argument of the constructor names another array. 1.9 and 1.2 are both 1,
#   so they come in any order; 4294967300 is 4; -1 is 4294967295, the last of all; NaN is 0, the first. peekPriority() returns these numbers.
#   Keys are 32 bits wide as well: the id 4294967303 comes back as 7. Nothing is raised.
# Why it matters: a merge by times in milliseconds since 1970 wraps every 50 days, costs and distances are fractions, and differences are negative. The result
#   has all the entries and is nearly in order. Examples and tests with small whole numbers pass.
# Source:    heapify's constructor (Uint32Array is the default for keys and for priorities); its README shows no priority that is not a small whole number.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ npm install --silent --no-audit --no-fund heapify@1.0.2; } >&2 || exit 2
cat > finding.js <<'JS'
const {MinQueue} = require("heapify");
const order = (priorities, ...types) => {
  const queue = new MinQueue(16, [], [], ...types), seen = [];
  priorities.forEach((priority, i) => queue.push(i, priority));
  while (queue.size) seen.push(priorities[queue.pop()]);
  return seen.join(" ");
};
const cases = [[2.9, 2.1, 1.9, 1.2], [5, 4294967300, 6], [3, -1, 2], [1700000000000, 1699999000000, 1703600000000]];
const seen = cases.map((priorities) => [order(priorities), order(priorities, Float64Array, Float64Array)]);
cases.forEach((priorities, i) => console.log(`pushed ${priorities.join(" ")}: popped ${seen[i][0]}; with Float64Array: ${seen[i][1]}`));
const queue = new MinQueue();
queue.push(4294967303, 1);
const key = queue.pop();
console.log("key 4294967303 comes back as", key);
const right = cases.every((priorities, i) => seen[i][1] === [...priorities].sort((a, b) => a - b).join(" "));
process.exit(right && key === 7 && seen[1][0] === "4294967300 5 6" && seen[2][0] === "2 3 -1" && seen[0][0] !== seen[0][1] ? 0 : 1);
JS
node finding.js
