#!/usr/bin/env bash
# In short:  of 1000 different keys 497 are counted, and of 10 keys 6, with a claimed error of 3 percent.
# Package:   bloom-filters 3.0.4 (npm), sketches for JavaScript; its HyperLogLog.
# One would guess: an estimate is within a few times of accuracy(), 1.04 / sqrt(registers), and small counts are close to exact, as in the paper.
# What happens: each register holds the number of zeros in front of the first one, where the paper has one more. So half of the keys leave their register
#   at 0, which is the mark of an empty one, and below 2.5 times the number of registers the estimate is made from the empty ones: it is half of
#   what it should be. Above that it is right. With 1024 registers 1000 keys are 497, and 5000 are 4868.
# Why it matters: it chooses the number of partitions, the memory of a join or of a group by. The more registers, the larger the range in which it is wrong, so more
#   care makes it worse: 5000 keys are right with 1024 registers and 2467 with 4096.
# Source:    bloom-filters/dist/sketch/hyperloglog.js, update (leftmost_pos) and count (V, the linear counting).
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts bloom-filters@3.0.4; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const { HyperLogLog } = require('bloom-filters');
const counted = (registers, keys) => {
  const sketch = new HyperLogLog(registers);
  for (let key = 0; key < keys; key++) sketch.update(`meter-${key}`);
  console.log(`${registers} registers, ${keys} keys: ${sketch.count(true)}, accuracy() ${sketch.accuracy().toFixed(3)}`);
  return sketch.count() / keys;
};
const small = [[1024, 10], [1024, 100], [1024, 1000], [4096, 1000], [4096, 5000]].map((sizes) => counted(...sizes));
const large = counted(1024, 5000);
process.exit(small.every((part) => part > 0.4 && part < 0.65) && large > 0.9 && large < 1.1 ? 0 : 1);
NODE
