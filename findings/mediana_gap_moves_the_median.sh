#!/usr/bin/env bash
# In short:  the median of 0, 0, 100, 100 is 50, and with one gap among them 100.
# Package:   mediana 2.0.0 (npm), medians of numbers, with values to leave out ("no_data").
# One would guess: a gap (NaN, null, or the number given as no_data) is left out, and the median is that of the rest.
# What happens: it is left out of the count, but whether there are two middle values is decided by the count WITH the gaps. An odd number of gaps
#   among an odd number of entries leaves an even rest, of which the upper of the two middle values is taken and not their mean.
# Why it matters: the median jumps by half of the distance between two readings when a gap comes, and back when the next one comes. For a
#   machine that is on or off half of the time that is half of its load. An even number of gaps hides it.
# Source:    mediana/src/index.js, calculate: `total % 2`, where `total_valid` is what is left.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts mediana@2.0.0; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const { calculate } = require('mediana');
const cases = [[0, 0, 100, 100], [0, 0, 100, 100, NaN], [0, 0, 100, 100, NaN, NaN], [0, 0, 100, 100, null], [0, 0, 100, 100, -99]];
const seen = cases.map((values) => calculate(values, { no_data: -99 }));
cases.forEach((values, at) => console.log(`median of ${values.map(String).join(', ')} (no_data -99): ${seen[at]}`));
process.exit(seen.join(' ') === '50 100 50 100 100' ? 0 : 1);
NODE
