#!/usr/bin/env bash
# In short:  1e-7 is read as 1000000000000000000, and so are 1e3 and 1e+06.
# Package:   human-format 1.2.1 (npm), numbers with prefixes of the SI and back.
# One would guess: parse() takes a number as JavaScript writes it, or throws, as it does for other texts that it cannot read ("1 Ki").
# What happens: the e of an exponent is taken for the prefix E, 10^18, whose case is not looked at, and the exponent for the unit. Every number with
#   an exponent is read as its digits in front of the e times 10^18: 2.5e-3 is 2.5 * 10^18. The text of a number is enough: String(0.0000001) is "1e-7".
# Why it matters: small readings in a column (a current of 0.1 microamperes, a time of 150 nanoseconds) become the largest, and a sort or a sum is of no use.
#   Numbers from 0.000001 to 10^21 have no exponent in JavaScript, so tests pass. Programs in C and Python write exponents much sooner.
# Source:    human-format/index.js, the pattern of a Scale with its flag "i", and the fallback to a prefix of the other case.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts human-format@1.2.1; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const humanFormat = require('human-format');
const texts = ['230', '0.001', String(0.0000001), String(0.00000015), '1e3', '1e+06', '2.5e-3'];
const seen = texts.map((text) => humanFormat.parse(text));
texts.forEach((text, at) => console.log(`parse(${JSON.stringify(text)}) = ${seen[at]}`));
let thrown = false;
try { humanFormat.parse('1 Ki'); } catch { thrown = true; }
console.log(`parse("1 Ki") throws: ${thrown}`);
const large = 10 ** 18;
process.exit(thrown && seen.join(' ') === [230, 0.001, large, 1.5 * large, large, large, 2.5 * large].join(' ') ? 0 : 1);
NODE
