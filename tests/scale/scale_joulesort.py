"""A rehearsal of a whole entry with a simulated meter, killed twice."""

import shutil
from pathlib import Path

from scale_ground import Ground

CLASSES = {10**8: "10^8", 10**9: "10^9"}
RUNS = 5
MOST_OF_ALL_RUNS = 10**9  # records; more of them are sorted once, and not with skewed keys: six sorts would take a day
ANSWERS = """\
title = "a rehearsal"
authors = "nobody"
meter_model = "none"
meter_serial = "none"
meter_calibration = "never"
meter_accuracy = "none"
power_factor = 1.0
hardware = "a drive that keeps the numbers of records"
inside_boundary = "nothing"
tuning = "none"
price = "none"
compiler = "as packaged"
commit = "this one"
"""
SAYS_WHAT_IT_MEANS = "MISSING is what only a person can say."


def joulesort(ground: Ground) -> None:
    entry, data = ground.place / "entry", ground.disk / "joulesort"
    entry.mkdir()
    (entry / "submission.toml").write_text(ANSWERS)
    known = ground.records in CLASSES
    is_whole = ground.records <= MOST_OF_ALL_RUNS
    runs = RUNS if is_whole else 1
    size = [CLASSES[ground.records]] if known else ["--records", f"{ground.records}", "--runs", f"{runs}"]
    size += ["--category", "daytona" if is_whole else "indy"]
    short = [] if known else ["--idle", "2", "--pause", "1", "--settle", "1"]
    place: list[str | Path] = ["--dir", entry, "--data", data]
    command = ["joulesort", *size, "--meter", "sim:", "--ambient", "22.5", *short, *place]
    sort = ["--", *ground.options]
    moved = (runs + 2 if is_whole else 2) * ground.size  # what is made and sorted: an input, all runs; skewed keys
    row, _ = ground.row("joulesort, 2 kills", moved)
    killed = f"{min(2, runs):02}"  # the second run, if there is one
    in_run = entry / f"result/runs/{killed}/events.jsonl"
    program = ground.python(row, "ecosort_power")
    for moment in (in_run, data / "skewed.dat") if is_whole else (data / "input.dat.begun", in_run):
        row.demand(program.kill_when(moment.exists, *command, *sort), f"it ended before {moment.name} was there")
    attempt = program.run(*command, *sort)
    for _ in range(3):  # a busy machine makes gaps in the readings: those runs are measured again, as a person would do it
        if attempt.code == 1:
            attempt = program.run(*command, "--repeat-invalid", *sort)
    row.demand(attempt.code == 0, f"exit {attempt.code}: {attempt.told.strip()}")
    pages = [entry / "submission.md", entry / "submission.html", *(entry / "figures").glob("*.svg")]
    for page in pages:
        text = page.read_text()
        row.demand("SIMULATED" in text, f"{page.name} does not say SIMULATED")
        missing = [line.strip() for line in text.replace(SAYS_WHAT_IT_MEANS, "").splitlines() if "MISSING" in line]
        row.demand(not missing, f"{page.name} has fields without an answer: {missing}")
    text = pages[0].read_text()
    row.demand(f"{killed}.interrupted-1" in text, "the run that was killed is not in the submission")
    if is_whole:
        row.demand("| a run on skewed keys (gensort -s) | kept |" in text, "the skewed run is not kept")
    row.notes.append(f"{len(pages)} pages say SIMULATED")
    shutil.rmtree(data)
