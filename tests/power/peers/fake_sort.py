"""A toy sort: takes a while, writes the events, statistics and output of a sort, and says its phase in the file `phase`.

fake_sort.py --events F --stats F -o OUT [--seconds FORM,MERGE] [--records N] [--exit N] [--orphan] [--bad-output] [--hard]
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--events", type=Path)
parser.add_argument("--stats", type=Path)
parser.add_argument("-o", dest="output", type=Path, default=Path("out"))
parser.add_argument("--seconds", default="0.9,0.6")
parser.add_argument("--records", type=int, default=1000)
parser.add_argument("--exit", type=int, default=0)
parser.add_argument("--orphan", action="store_true")
parser.add_argument("--bad-output", action="store_true")
parser.add_argument("--hard", action="store_true", help="use a whole processor")
options = parser.parse_args()


def say(event: str, phase: str) -> None:
    if options.events is not None:
        now = {"monotonic_s": round(time.monotonic(), 6), "realtime_s": round(time.time(), 6)}
        with options.events.open("a") as f:
            f.write(json.dumps({"schema": "ecosort.events/1", "event": event, "phase": phase, **now}) + "\n")


def work(seconds: float) -> None:
    """Waits, so that other tests have the processor; a test in which the load of the machine counts says --hard."""
    end = time.monotonic() + seconds
    while options.hard and time.monotonic() < end:
        pass
    time.sleep(max(0.0, end - time.monotonic()))


def enter(phase: str, seconds: float) -> None:
    say("begin", phase)
    Path("phase.new").write_text(phase)
    Path("phase.new").rename("phase")
    work(seconds)
    say("end", phase)


begin = time.monotonic()
say("begin", "total")
try:
    form, merge = (float(v) for v in options.seconds.split(","))
    enter("run_formation", form)
    enter("merge", merge)
finally:
    Path("phase").unlink(missing_ok=True)
options.output.write_text("bad" if options.bad_output else f"sorted {options.records}\n")
say("end", "total")
if options.stats is not None:
    stats = {"schema": "ecosort.stats/1", "records": options.records, "wall_s": time.monotonic() - begin}
    options.stats.write_text(json.dumps(stats))
if options.orphan:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
if options.exit:
    print("the toy sort fails as it should", file=sys.stderr)
os._exit(options.exit)
