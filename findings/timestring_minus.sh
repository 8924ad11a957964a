#!/usr/bin/env bash
# In short:  minus five minutes are plus five minutes, and one and a half hours with a comma are fifteen.
# Package:   timestring 7.0.0 (npm), which reads times like "1h 15m".
# One would guess: "-5m" is -300 seconds, or an error: its pattern of a number has room for a sign, and what cannot be parsed is an error by its README.
# What happens: the sign is matched and then left out, in texts and in numbers alike: "-5m" is 300, "1h -30m" is 5400, and the number -5000 (milliseconds)
#   is 5. A comma is dropped like a blank before the digits are read, so "1,5h" are 15 hours and "0,5h" are 5.
# Why it matters: an offset of a clock, a time before an event, or a difference goes to the other side, and a sort by it has the early ones among the
#   late ones. The sum of a correction and its opposite is twice the correction in place of 0. No error, and positive times pass every test.
# Source:    timestring/index.js, parseTimestring: its groups match [-+]? but the value is taken by [0-9.]+ alone.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts timestring@7.0.0; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const timestring = require('timestring');
const times = ['5m', '-5m', '1h -30m', -5000, '1.5h', '1,5h', '0,5h'];
for (const time of times) console.log(`${JSON.stringify(time)}: ${timestring(time)} s`);
process.exit(times.map((time) => timestring(time)).join(' ') === '300 300 5400 5 5400 54000 18000' ? 0 : 1);
NODE
