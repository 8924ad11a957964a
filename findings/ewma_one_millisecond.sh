#!/usr/bin/env bash
# In short:  a moving average takes the first of a thousand readings that come within one millisecond, and none of the others.
# Package:   ewma 2.0.1 (npm), an exponentially weighted moving average by time, with a half-life.
# One would guess: readings that come together count alike, as a mean or each with its weight, and one of them more or less makes a small difference.
# What happens: the weight of a reading is the time since the one before, and Date.now() has whole milliseconds: the weight of all others of the same
#   millisecond is 0. Of 100, 900 and 900 in one millisecond the average is what it is with 100 alone. In another order it is another. With a pause of a millisecond
#   each they count. Nothing is raised.
# Why it matters: a server that answers many requests, or a meter that is read in blocks, hands over readings in bursts. The average is that of the first of
#   each burst, which is often the fastest or the oldest one; a spike behind it is never seen. Tests with a clock that goes on with each reading pass.
# Source:    ewma/index.js, insert (w = 2 ** (-elapsed / halfLife), and 1 - w for the reading); its README says "recent points are weighted higher".
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
{ npm install --silent --no-audit --no-fund ewma@2.0.1; } >&2 || exit 2
cat > finding.js <<'JS'
const EWMA = require("ewma");
function average(bursts, pause) {
  let now = 1700000000000;
  const ewma = new EWMA(1000, 100, {now: () => now});
  for (const burst of bursts) {
    now += 1000;
    for (const reading of burst) {
      ewma.insert(reading);
      now += pause;
    }
  }
  return Math.round(ewma.value());
}
const late = [100, ...Array(999).fill(900)], early = [...Array(999).fill(900), 100];
const cases = [[[late], 0], [[late], 1], [[[100]], 0], [[early], 0], [[late, late, late], 0]];
const seen = cases.map(([bursts, pause]) => average(bursts, pause));
cases.forEach(([bursts, pause], i) =>
  console.log(`${bursts.length} bursts of ${bursts[0].length} readings from ${bursts[0][0]} to ${bursts[0].at(-1)}, ${pause} ms apart: ${seen[i]}`));
process.exit(seen[0] === 100 && seen[1] > 400 && seen[2] === 100 && seen[3] === 500 && seen[4] === 100 ? 0 : 1);
JS
node finding.js
