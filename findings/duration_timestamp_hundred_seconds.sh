#!/usr/bin/env bash
# In short:  99 seconds are 99, 100 seconds are 0, and an hour that the package itself wrote as "3600s" is read as 0.
# Package:   duration-timestamp 2.26.0 (npm), which parses and writes times like 1h 5m and 01:05:00.
# One would guess: what it writes it reads, and a number that is too long for it is an error.
# What happens: it looks for one or two digits in front of a unit, anywhere in the text. Of "100s" it finds "00s", which is 0; "120 min" is 20 minutes,
#   "150m" 50, "1.5h" five hours, and "100:30" half a minute. What is in front is passed over. Its own formats write totals with as many digits as needed:
#   100 hours are "100h", and an hour in seconds is "3600s"; both come back as 0. Nothing is raised.
# Why it matters: run times in seconds mostly have three digits or more. Sorted by what was parsed, the longest runs are among the shortest, and energy per
#   second is infinite. Tests with 30s, 1h 5m and 1:30 pass.
# Source:    duration-timestamp/edition-es2019/index.js, timestampsRegex (\d{1,2}, without an anchor); Format.Seconds and stringify.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts duration-timestamp@2.26.0; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const { Format, make, parse, stringify } = require('duration-timestamp');
const texts = ['99s', '100s', '90m', '120 min', '150m', '1.5h', '99:30', '100:30'];
const seen = texts.map((text) => parse(text).total);
texts.forEach((text, i) => console.log(`${text}: ${seen[i]} s`));
for (const [parts, format] of [[{ hours: 1 }, Format.Short], [{ hours: 100 }, Format.Short], [{ hours: 1 }, Format.Seconds]]) {
  const made = make(parts);
  const text = stringify(made, format);
  console.log(`${made.total} s, written as ${text}, read as ${parse(text).total} s`);
  seen.push(parse(text).total);
}
process.exit(seen.join(' ') === '99 0 5400 1200 3000 18000 5970 30 3600 0 0' ? 0 : 1);
NODE
