#!/usr/bin/env bash
# In short:  a time of July 2026 is read as one of January 1970.
# Package:   cbor-sync 1.0.4 (npm), CBOR for JavaScript; cbor2 5.7.1 (PyPI) and borc 3.0.0 (npm) write the times.
# One would guess: CBOR's tag 1 is a time in seconds since 1970 (RFC 8949, 3.4.2), and a reader that makes a Date of it counts in seconds.
# What happens: it makes a Date of the number as it is, and a Date of JavaScript counts in milliseconds. All times from 1970 to the next century fall
#   within seven weeks at the start of 1970. Its own times have tag 0, a text, so they come back as they were.
# Why it matters: meters and small devices prefer tag 1, as it is a few bytes. Their times are valid Dates in the right order, so a sort
#   and a test within one program pass; a merge with times from elsewhere puts all of them first.
# Source:    cbor-sync/main.js, addSemanticDecode(1, ...).
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install -q cbor2==5.7.1; } >&2 || exit 2
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts cbor-sync@1.0.4 borc@3.0.0; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
export TIME=2026-07-01T12:00:00.000Z
BYTES=$(venv/bin/python - <<'PYTHON'
import datetime, os

import cbor2

print(cbor2.dumps(datetime.datetime.fromisoformat(os.environ["TIME"]), datetime_as_timestamp=True).hex())
PYTHON
) || exit 2
export BYTES
node - <<'NODE'
const cborSync = require('cbor-sync');
const borc = require('borc');
const written = { 'cbor2 (tag 1)': Buffer.from(process.env.BYTES, 'hex'), 'borc (tag 1)': borc.encode(new Date(process.env.TIME)),
  'cbor-sync (tag 0)': cborSync.encode(new Date(process.env.TIME)) };
const seen = Object.entries(written).map(([name, bytes]) => {
  const times = [cborSync.decode(bytes).toISOString(), borc.decode(bytes).toISOString()];
  console.log(`written by ${name}: cbor-sync reads ${times[0]}, borc ${times[1]}`);
  return times;
});
const wrong = '1970-01-21T15:15:07.200Z', right = process.env.TIME;
process.exit(seen.join() === [[wrong, right], [wrong, right], [right, right]].join() ? 0 : 1);
NODE
