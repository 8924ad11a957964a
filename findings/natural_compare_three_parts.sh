#!/usr/bin/env bash
# In short:  a natural order has 1.9.1 before 1.1, and 1.10 before 1.5.
# Package:   @discoveryjs/natural-compare 1.1.0 (npm).
# One would guess: 1.1, 1.5, 1.9.1, 1.10 (parts as whole numbers), or 1.1, 1.10, 1.5 with 1.9.1 at the end (as decimals).
# What happens: it depends on how many points there are. With one the number is a decimal, so 1.10 is 1.1. With two or more it is cut at each point, so
#   1.9.1 is 1, and then 9 and 1. A decimal is compared with that 1: each version of three parts comes before all of two parts that begin with the same
#   number.
# Why it matters: versions, sections and addresses have both forms in one list: 2.4 and 2.4.1. A patch comes before what it patches, and "the newest" is the
#   largest of two parts. Lists with one form only are in order, as decimals or as versions, so each of the two passes its test.
# Source:    @discoveryjs/natural-compare/src/index.js, consumeNumber ("If next char is ... FULL STOP (.), then don't consume").
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts @discoveryjs/natural-compare@1.1.0; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const { naturalCompare } = require('@discoveryjs/natural-compare');
const seen = [['1.1', '1.5', '1.9.1', '1.10'], ['v2.4', 'v2.4.1', 'v2.4.2', 'v2.3'], ['1.1.0', '1.5.0', '1.9.1', '1.10.0']].map((list) => {
  const sorted = [...list].sort(naturalCompare).join(', ');
  console.log(`${list.join(', ')}: ${sorted}`);
  return sorted;
});
const expected = ['1.9.1, 1.1, 1.10, 1.5', 'v2.4.1, v2.4.2, v2.3, v2.4', '1.1.0, 1.5.0, 1.9.1, 1.10.0'];
process.exit(JSON.stringify(seen) === JSON.stringify(expected) ? 0 : 1);
NODE
