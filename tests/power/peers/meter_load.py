"""A load for probing a toy meter: the file `load` exists while this runs."""

import signal
import sys
from pathlib import Path

signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
try:
    Path("load").touch()
    signal.pause()
finally:
    Path("load").unlink(missing_ok=True)
