#!/usr/bin/env bash
# In short:  "ten thousand seconds" are 10 seconds.
# Package:   human-interval 2.0.1 (npm), the times of Agenda and other schedulers.
# One would guess: its README says that it understands numbers written out in English; what it cannot read is NaN.
# What happens: "and" between the parts of a time is taken away wherever it is, also inside a word, so "thousand" becomes "thous", which no
#   number is. "ten thousand seconds" are 10 s, "two thousand five hundred seconds" 1000 s, and "thousand seconds" 0. Digits go the same way: a comma
#   becomes a blank and what is behind it is dropped, so "1,500 seconds" are 1 s. "two hundred seconds" and "forty-five seconds" are right.
# Why it matters: an interval for a job or a meter is a thousand times too short, and 0 means at once and without a pause. It is a number like
#   others, so a check for NaN passes, and intervals below a thousand are right in every test.
# Source:    human-interval/index.js, the replace() of humanInterval; the package numbered, to which the words go, knows "thousand".
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts human-interval@2.0.1; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const humanInterval = require('human-interval');
const times = ['two hundred seconds', 'forty-five seconds', 'ten thousand seconds', 'two thousand five hundred seconds', 'thousand seconds',
  '1500 seconds', '1,500 seconds', 'soon'];
for (const time of times) console.log(`${time}: ${humanInterval(time) / 1000} s`);
process.exit(times.map((time) => humanInterval(time) / 1000).join(' ') === '200 45 10 1000 0 1500 1 NaN' ? 0 : 1);
NODE
