#!/usr/bin/env bash
# In short:  a natural order puts power.log.10 before power.log.1, and power.log.11 before power.log.2.
# Package:   @cablanchard/koelle-sort 0.1.0 (npm), "alphanum sort".
# One would guess: the number at the end of a name is 10 and comes behind 2, as the README shows with z1.doc to z102.doc. It names numbers with several
#   points (1.2.3) as not supported; these names have one each.
# What happens: a point belongs to the digits behind it, so ".10" is the number 0.1 and ".11" 0.11: they are before ".2". ".1" and ".10" are equal as
#   numbers, and then the longer text comes first. With a file ending (part.2.csv) both points are in one piece, which is no number, and is compared as a
#   text. With "-" or "_" in place of the point all is right.
# Why it matters: rotated logs and the pieces of a split file are named so. A replay or a merge of what they hold is out of order from the tenth file on,
#   and the oldest ones are in the middle; up to nine files pass every test.
# Source:    @cablanchard/koelle-sort/dist/tokeniser.js, charCodeIsNumeric (PERIOD); index.js, compareNumbers (Number(a), then the lengths).
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts @cablanchard/koelle-sort@0.1.0; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const { alphanum } = require('@cablanchard/koelle-sort');
const numbers = [1, 2, 3, 10, 11, 20];
const order = (before, behind) => numbers.map((number) => before + number + behind).sort(alphanum);
const seen = [order('power.log.', ''), order('part.', '.csv'), order('part-', '.csv')];
for (const names of seen) console.log(names.join('  '));
const found = seen.map((names) => names.map((name) => name.match(/\d+/)[0]).join(' ')).join(', ');
process.exit(found === '10 1 11 20 2 3, 1 10 11 2 20 3, 1 2 3 10 11 20' ? 0 : 1);
NODE
