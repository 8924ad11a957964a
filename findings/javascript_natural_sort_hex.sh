#!/usr/bin/env bash
# In short:  two texts that each come before the other.
# Package:   javascript-natural-sort 0.7.1 (npm).
# One would guess: a comparison that is made for sorting is an order: if a comes before b, then b does not come before a.
# What happens: hexadecimal texts are detected on both sides, but compared whenever the RIGHT one is hexadecimal; a left one that is not counts as 0. Compare
#   "100" with "0x1f" in either order: the first argument always wins. Three texts give as many results as there are ways to pass them in.
# Why it matters: the result depends on the order of the input, so two sorted runs cannot be merged, a binary search in the result fails,
#   and sorting the result again moves it.
# Source: javascript-natural-sort/naturalSort.js, the variables xD and yD and the branch "if (yD)".
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts javascript-natural-sort@0.7.1; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const compare = require('javascript-natural-sort');
const both = [compare('100', '0x1f'), compare('0x1f', '100')];
console.log(`compare("100", "0x1f") = ${both[0]}, compare("0x1f", "100") = ${both[1]}`);
const results = [['100', '0x1f', '7'], ['0x1f', '7', '100'], ['7', '100', '0x1f']].map((input) => {
  const result = [...input].sort(compare).join(' ');
  console.log(`${input.join(' ').padEnd(10)} sorted: ${result}`);
  return result;
});
process.exit(both[0] < 0 && both[1] < 0 && new Set(results).size === 3 ? 0 : 1);
NODE
