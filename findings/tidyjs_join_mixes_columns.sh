#!/usr/bin/env bash
# In short:  after a join the column "watts" holds the limits of the meters that have one, and the readings of the others.
# Package:   @tidyjs/tidy 2.6.1 (npm), tables for JavaScript after R's dplyr.
# One would guess: a column that both tables have, and that is no key, is there twice (watts.x and watts.y in dplyr, suffixes in pandas and Polars), or is an error.
# What happens: a row with a partner has the partner's value, also where that is null, and a row without one keeps its own. One column has two
#   meanings, row by row. leftJoin and fullJoin are both so; innerJoin loses the left column. No error, no message.
# Why it matters: readings and limits in one column are all numbers, so its sum, its maximum and its order look like any. A null in the right
#   table removes a reading. Without `by` the common column is taken for a part of the key.
# Source:    @tidyjs/tidy/dist/lib/leftJoin.js: { ...d, ...j } for a match, { ...d, ...undefinedFill } for none.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts @tidyjs/tidy@2.6.1; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const { fullJoin, leftJoin, tidy } = require('@tidyjs/tidy');
const readings = [{ id: 1, watts: 100 }, { id: 2, watts: 200 }, { id: 3, watts: 300 }];
const limits = [{ id: 1, watts: 3000 }, { id: 3, watts: null }];
const seen = [leftJoin, fullJoin].map((join) => JSON.stringify(tidy(readings, join(limits, { by: 'id' }))));
console.log('readings:', JSON.stringify(readings));
console.log('limits:', JSON.stringify(limits));
console.log(`leftJoin: ${seen[0]}\nfullJoin: ${seen[1]}`);
const mixed = JSON.stringify([{ id: 1, watts: 3000 }, { id: 2, watts: 200 }, { id: 3, watts: null }]);
process.exit(seen.every((rows) => rows === mixed) ? 0 : 1);
NODE
