"""A real sort made slow: `throttled_sort.py BYTES_PER_SECOND INPUT OUTPUT ECOSORT WORD...`

Runs `ECOSORT WORD... - -o -` with its input and its output through pipes that pass so many bytes per second. Run
formation then lasts as long as the input, the merge as long as the output, on any machine that is not slower than that.
"""

import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import BinaryIO

PIECE = 256 * 1024


def trickle(source: BinaryIO, target: BinaryIO, bytes_per_second: float) -> None:
    """Passes all bytes on; what an interruption delayed is caught up with."""
    moved, due = 0, time.monotonic()
    while piece := source.read(PIECE):
        target.write(piece)
        moved += len(piece)
        due = max(due + len(piece) / bytes_per_second, time.monotonic() - 0.2)
        time.sleep(max(0.0, due - time.monotonic()))
    target.close()


rate, words = float(sys.argv[1]), sys.argv[4:]
sort = subprocess.Popen([*words, "-", "-o", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
assert sort.stdin is not None
assert sort.stdout is not None
with Path(sys.argv[2]).open("rb") as source, Path(sys.argv[3]).open("wb") as target:
    feeder = threading.Thread(target=trickle, args=(source, sort.stdin, rate))
    feeder.start()
    trickle(sort.stdout, target, rate)
    feeder.join()
sys.exit(sort.wait())
