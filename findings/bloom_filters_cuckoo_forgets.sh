#!/usr/bin/env bash
# In short:  of 1000 keys that were added to a filter, about 300 are "definitely not in it".
# Package:   bloom-filters 3.0.4 (npm); its CuckooFilter.
# One would guess: has() may err for keys that were not added, but a no is certain, as its README says; add() returns false for what does not fit.
# What happens: add() returns true for all 1000, `length` is 1000, and has() is false for hundreds of them. A key that makes room moves to a bucket at
#   which it is not looked for: its other bucket is computed from the whole hash when it is added, and from the number of its bucket, a remainder, when
#   it is moved, which is not the same. Twice the room still forgets a few; a Bloom filter of the package none.
# Why it matters: filters come before a join, a lookup in a run or a file, to skip what cannot match. A wrong yes costs time, a wrong no loses the row.
#   With few keys nothing has to move, so small tests pass.
# Source:    bloom-filters/dist/cuckoo/cuckoo-filter.js, _locations (firstIndex ^ secondHash) and add (index ^ newHash).
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts bloom-filters@3.0.4; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node - <<'NODE'
const { BloomFilter, CuckooFilter } = require('bloom-filters');
const keys = Array.from({ length: 1000 }, (_, key) => `meter-${key}`);
const forgotten = (name, filter) => {
  const added = keys.filter((key) => filter.add(key) !== false).length;
  const lost = keys.filter((key) => !filter.has(key)).length;
  console.log(`${name}: ${added} added, not found: ${lost}`);
  return [added, lost];
};
const cuckoo = forgotten('CuckooFilter.create(1000, 0.01)', CuckooFilter.create(1000, 0.01));
forgotten('CuckooFilter.create(2000, 0.01)', CuckooFilter.create(2000, 0.01));
const bloom = forgotten('BloomFilter.create(1000, 0.01)', BloomFilter.create(1000, 0.01));
process.exit(cuckoo[0] === 1000 && cuckoo[1] > 100 && bloom[1] === 0 ? 0 : 1);
NODE
