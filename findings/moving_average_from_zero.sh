#!/usr/bin/env bash
# In short:  a moving average forgets the first reading if its time is 0, and is right if it is 1.
# Package:   @vascosantos/moving-average 1.1.0 (npm), exponential moving averages of readings with times.
# One would guess: times are numbers on any scale; only their differences are in the formula. A series that is shifted has the same average.
# What happens: "has there been a reading" is asked by `if (previousTime)`. After a reading at time 0 the next one is taken as the first: the average jumps
#   to it, and the variance stays 0. From the third reading on it goes on from there. With Date.now() it cannot happen.
# Why it matters: runs are measured from their own start, so their first time is 0. Of 100 W at the start and 0 W a second later the average is 0 W in place
#   of 37 W, and a limit by the deviation, which is 0, lets nothing through or all. The error fades out with the time constant, so a long run looks right at
#   its end.
# Source:    @vascosantos/moving-average/index.js, push.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts @vascosantos/moving-average@1.1.0; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const MovingAverage = require('@vascosantos/moving-average');
const seen = [0, 1, 1e12].map((start) => {
  const average = MovingAverage(1000);
  const after = [100, 0, 0].map((watts, i) => {
    average.push(start + 1000 * i, watts);
    return `${average.movingAverage().toFixed(1)} W (deviation ${average.deviation().toFixed(1)})`;
  });
  console.log(`100, 0 and 0 W from time ${start} on: ${after.join(', ')}`);
  return after[1];
});
process.exit(seen.join() === '0.0 W (deviation 0.0),36.8 W (deviation 48.2),36.8 W (deviation 48.2)' ? 0 : 1);
NODE
