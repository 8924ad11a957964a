#!/usr/bin/env bash
# In short:  65537 equal values at the end of an array are compressed without an error, and cannot be read again.
# Package:   @thi.ng/rle-pack 3.2.12 (npm), run-length encoding of words of 1 to 32 bits.
# One would guess: runs of any length come back; its README says that the remainder beyond 65536 repetitions is encoded as additional runs.
# What happens: 65536 and 65538 values come back. With 65537 the run of 65536 is written and the one that is left over is not, where it ends the array. The
#   header says 65537 words, so decode() reads behind the end and raises an error; a smaller run size has it with shorter runs (17 with 4 bits, 33, 49 ...).
# Why it matters: the encoder reports success, and the original is often removed then. The value is lost, and with the error all that is in the array.
#   Series of readings that end in a long idle time, masks and columns with few values are what one compresses so; one length in 65536 fails, and no test of
#   a few values meets it.
# Source:    @thi.ng/rle-pack/binary.js, encodeBinary (`tail = i < n1`); its README, "Binary".
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts @thi.ng/rle-pack@3.2.12; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
node --input-type=module - <<'NODE'
import { decodeBinary, encodeBinary } from '@thi.ng/rle-pack';

const back = (idle, sizes) => {
  const words = [1, 2, 3, ...Array(idle).fill(7)];
  const packed = encodeBinary(words, words.length, 8, sizes);
  let found;
  try {
    found = decodeBinary(packed).join() === words.join() ? 'the same' : 'others';
  } catch (error) {
    found = error.message;
  }
  console.log(`1, 2, 3 and ${idle} times 7${sizes ? `, run sizes ${sizes} bits` : ''}: ${packed.length} bytes, read again: ${found}`);
  return found === 'the same';
};
const seen = [65536, 65537, 65538, 131073].map((idle) => back(idle)).concat([16, 17, 18, 33].map((idle) => back(idle, [1, 2, 3, 4])));
process.exit(seen.join() === 'true,false,true,false,true,false,true,false' ? 0 : 1);
NODE
