#!/usr/bin/env bash
# In short:  the intersection of three sorted lists holds a number that one of them does not have.
# Package:   mnemonist 0.40.8 (npm), data structures of JavaScript, 33 million downloads a month; its utils/merge.
# One would guess: kWayIntersectionUniqueArrays() and intersectionUnique() return what all lists have.
# What happens: the largest first number and the smallest last number of the lists bound the result. Where the two are equal this number is returned at
#   once, and nobody asks whether the other lists have it: [1, 5], [5, 9] and [2, 9] have the intersection [5]. kWayIntersectionUniqueArrays() of two
#   lists does it where one has a single number: [5] and [1, 9] have [5]. The function of its own for two lists, which intersectionUnique() takes then,
#   is right.
# Why it matters: this is the join of posting lists and of sorted columns of identifiers: one row comes out that fails a condition. It happens where the
#   lists of a query touch in one number, so in small tests hardly ever, and in data that are cut by ranges at each border.
# Source:    mnemonist/utils/merge.js, kWayIntersectionUniqueArrays: `if (maxStart === minEnd) return [maxStart]`.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts mnemonist@0.40.8; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const { intersectionUnique, kWayIntersectionUniqueArrays } = require('mnemonist/utils/merge');
let wrong = 0;
for (const lists of [[[1, 5], [5, 9], [2, 9]], [[1, 5], [5, 9], [2, 5, 9]], [[1, 5, 6], [5, 9], [2, 9]], [[0, 7], [7], [1, 2, 8]]]) {
  const right = lists[0].filter((number) => lists.every((list) => list.includes(number)));
  const [one, other] = [kWayIntersectionUniqueArrays(lists), intersectionUnique(...lists)];
  console.log(`${JSON.stringify(lists)}: ${JSON.stringify(one)}, ${JSON.stringify(other)}, in all lists: ${JSON.stringify(right)}`);
  if (JSON.stringify(one) !== JSON.stringify(right) && JSON.stringify(other) !== JSON.stringify(right)) wrong++;
}
const [byMany, byTwo] = [kWayIntersectionUniqueArrays([[5], [1, 9]]), intersectionUnique([5], [1, 9])];
console.log(`[5] and [1, 9]: ${JSON.stringify(byMany)}, ${JSON.stringify(byTwo)}`);
process.exit(wrong === 2 && byMany.join() === '5' && byTwo.length === 0 ? 0 : 1);
NODE
