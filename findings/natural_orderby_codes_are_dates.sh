#!/usr/bin/env bash
# In short:  a natural order puts shelf 13-1-1 before 2-1-1, and 3-1-2 before 1-1-9.
# Package:   natural-orderby 5.0.0 (npm).
# One would guess: a natural order compares the numbers within texts from left to right: 1-1-9, 2-1-1, 3-1-2, 13-1-1. That is what it does with
#   1.1.9, 2.1.1, 3.1.2, 13.1.1.
# What happens: a text of three numbers with hyphens or slashes is a date if JavaScript can read it as one, month-day-year: 1-1-9 is January 2009. Two
#   such texts are compared by these times, so the LAST number decides first. A text that is no date (month 13, day 32) is compared from left to right
#   with all others, as numbers.
# Why it matters: places in a store (aisle-shelf-bin), chapters, positions, parts: lists with a prefix (A1-1-9) or with small last numbers come right,
#   others are shuffled. 2024-02-31, which the reader of dates moves to March 2, comes behind 2024-03-01, and 2024-13-01 before 2024-01-31.
# Source:    natural-orderby/dist/natural-orderby.development.js, numberify: numbers and dates of texts are one field (Number(), then Date.parse()) that is compared first.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts natural-orderby@5.0.0; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
TZ=UTC node - <<'NODE'
const { orderBy } = require('natural-orderby');
const seen = [];
for (const codes of [['1.1.9', '2.1.1', '3.1.2', '13.1.1'], ['A1-1-9', 'A2-1-1', 'A3-1-2', 'A13-1-1'], ['1-1-9', '2-1-1', '3-1-2', '13-1-1'], ['1/1/9', '2/1/1', '3/1/2', '13/1/1'], ['2024-01-31', '2024-02-31', '2024-03-01', '2024-13-01']]) {
  seen.push(orderBy(codes).map((code) => codes.indexOf(code)).join(''));
  console.log(`${codes.join(' ')}  sorted: ${orderBy(codes).join(' ')}`);
}
process.exit(seen.join(' ') === '0123 0123 3120 3120 3021' ? 0 : 1);
NODE
