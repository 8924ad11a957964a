#!/usr/bin/env bash
# In short:  a time comes back up to half a second later than it was, and two times half a second apart as one.
# Package:   borc 3.0.0 (npm), CBOR for JavaScript.
# One would guess: a Date, which counts milliseconds, comes back as it was: CBOR's times may be floats, and borc reads such times with their milliseconds.
# What happens: a Date is written as whole seconds, rounded to the nearest: 12:00:00.500 is read back as 12:00:01, 23:59:59.999 as the next day. No error.
# Why it matters: readings of every 100 ms come back as ten with one time each, in groups that begin at the half seconds. A sort by time then leaves them in
#   any order, a difference of two is 0, a rate is infinite, and an end that was measured before midnight belongs to another day.
# Source:    borc/src/encoder.js, _pushDate: Math.round(obj / 1000), with a comment that fractions may be had by another way.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts borc@3.0.0; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const borc = require('borc');
const times = ['2026-07-01T12:00:00.000Z', '2026-07-01T12:00:00.499Z', '2026-07-01T12:00:00.500Z', '2026-07-01T23:59:59.999Z'];
const seen = times.map((time) => borc.decode(borc.encode(new Date(time))).toISOString());
times.forEach((time, at) => console.log(`${time} comes back as ${seen[at]}`));
const float = Buffer.from('c1fb0000000000000000', 'hex');
float.writeDoubleBE(new Date(times[1]).getTime() / 1000, 2);
const read = borc.decode(float).toISOString();
console.log(`the same time as a float of seconds is read as ${read}`);
const expected = [times[0], times[0], '2026-07-01T12:00:01.000Z', '2026-07-02T00:00:00.000Z'];
process.exit(seen.join() === expected.join() && read === times[1] ? 0 : 1);
NODE
