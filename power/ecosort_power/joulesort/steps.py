"""The steps of an entry, each of them skipped if it is done:

space, meters, length of the sort | input | plan | five cold runs, each validated | skewed input and run (Daytona) |
entry | check | reports
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from ecosort_power.check import check, first_broken_link
from ecosort_power.claim import is_validated
from ecosort_power.encoding import write_text
from ecosort_power.entry import FILE_NAME as ENTRY
from ecosort_power.entry import SCHEMA as ENTRY_SCHEMA
from ecosort_power.entry import Entry, Generated, Skewed, read_entry
from ecosort_power.errors import EXIT_INVALID, EXIT_OK, PowerError, RunError, UsageError
from ecosort_power.joulesort import sorter
from ecosort_power.joulesort.classes import name_of
from ecosort_power.joulesort.length import Enough, Shortest, enough_for, require_length, shortest_run, stopwatch_in, with_spread
from ecosort_power.joulesort.space import Need, check_space, least, needs
from ecosort_power.joulesort.state import Place, Request, State, alone_in, directory, locked
from ecosort_power.launch import measure, say_how_to_continue, specs_of
from ecosort_power.live import Display
from ecosort_power.planned import plan_of, prediction_of
from ecosort_power.records import RECORD_BYTES, spaced
from ecosort_power.report import facts, html, markdown, plots, terminal
from ecosort_power.report.content import Result, gather
from ecosort_power.report.facts import MISSING
from ecosort_power.report.figures import figures
from ecosort_power.report.sections import sections
from ecosort_power.seal import Seal, head_of
from ecosort_power.session import set_aside
from ecosort_power.store import Options, ResultDirectory

DAYTONA = "daytona"
# The skewed run is timed without a meter: what check says of that is no defect of the entry.
_OF_TIME_ONLY = frozenset({"no-energy", "few-runs", "no-idle"})


class Joulesort:
    """One call of `joulesort` in its locked directory."""

    def __init__(self, place: Place, request: Request, ambient_c: float | None) -> None:
        self._place = place
        self._request = request
        self._ambient_c = ambient_c
        self._display = Display()
        self._name = name_of(request.records, request.rehearsal)
        data = Path(request.data)
        self._input, self._skewed_input = data / "input.dat", data / "skewed.dat"
        self._output = data / "output.dat"
        self._chosen = False  # the number of records follows from the meter

    def run(self) -> int:
        """Before the first file is made all is looked at that could make it useless: space, meters, the length of the sort."""
        if self._place.begun() is None:
            self._refuse_others_files()
        if not self._request.records:
            self._choose_records()
        state = self._place.state(self._request)
        if not self._measured():
            self._look_ahead()
            self._place.save(state)
            self._write_questions()
            state = self._inputs(state)
            self._measure(state)
        skewed = self._skewed(state) if self._request.category == DAYTONA else None
        self._write_entry(state, skewed)
        if skewed is not None and skewed.problem is not None:
            click.echo(f"SKEWED     {skewed.problem}; measure it again: the same command with --repeat-invalid")
        return self._conclude()

    def _look_ahead(self) -> None:
        self._check_space()
        if self._place.begun() is None and not self._chosen:
            self._check_length()
        if self._place.begun() is None:
            self._display.say(self._what_it_takes())

    def _what_it_takes(self) -> str:
        """Says how long a sort takes where a profile of this machine predicts it."""
        r = self._request
        skewed, sorts = (", as much of skewed input", r.runs + 1) if r.category == DAYTONA else ("", r.runs)
        space = sum(need.bytes for need in self._needs())
        waits_s = 2 * r.idle_s + sorts * r.pause_s + len(r.meters) * r.probe_s
        try:
            seconds = prediction_of(plan_of(r.records, self._output, sorter.entry_words(r.sort_words)))["seconds"]
            each = f", of about {float(seconds):.3g} s each"
        except UsageError:
            each = ""
        return (
            f"{r.records * RECORD_BYTES / 1e9:.3g} GB of input{skewed}, {space / 1e9:.3g} GB with runs and output; "
            f"sorts: {sorts}{each}; idle power and pauses: {waits_s / 60:.2g} minutes, and up to "
            f"{sorts * r.settle_s / 60:.2g} until the drives rest; making, reading and checking the files comes on top"
        )

    def _refuse_others_files(self) -> None:
        """Before an entry has begun, files of these names are somebody else's: they would be written over."""
        for path in (self._input, self._skewed_input, self._output):
            found = next((p for p in (path, path.with_name(path.name + ".begun")) if p.exists() or p.is_symlink()), None)
            if found is not None:
                raise UsageError(f"{found} is there already and is not of this entry: remove it, or choose another --data")

    def _check_length(self) -> None:
        shortest = shortest_run(specs_of(self._options())[0])
        if shortest is not None:
            require_length(self._request.records, self._request.rehearsal, self._enough(shortest), shortest)

    def _enough(self, shortest: Shortest) -> Enough | None:
        r = self._request
        need = f"the {shortest.seconds:.3g} s that meter {shortest.meter} needs"
        with self._display.line(f"finding out how many records take {need}"):
            stopwatch = stopwatch_in(Path(r.data), r.sort_words)
            found = enough_for(shortest.seconds, r.records, stopwatch)
            return with_spread(shortest.seconds, found, stopwatch) if found is not None and not r.records else found

    def _choose_records(self) -> None:
        """`--records auto`: as many as were chosen before, else as few as the meter needs."""
        begun = self._place.begun()
        if begun is not None:
            self._take(begun.request.records)
            return
        shortest = shortest_run(specs_of(self._options())[0])
        found = self._enough(shortest) if shortest is not None else None
        if found is None:
            raise UsageError("--records auto needs a meter that is read during the runs; say how many: --records N")
        self._display.say(f"rehearsing with {spaced(found.records)} records")
        self._take(found.records)

    def _take(self, records: int) -> None:
        self._chosen = True
        self._request = replace(self._request, records=records)
        self._name = name_of(records, self._request.rehearsal)

    def _write_questions(self) -> None:
        questions = self._place.path / facts.FILE_NAME
        if not questions.exists():
            write_text(questions, facts.template())

    def _measured(self) -> bool:
        """All runs are there, and the idle power after them."""
        directory = ResultDirectory(self._place.result)
        if not directory.session_path.exists():
            return False
        session = directory.session()
        return len(directory.runs()) == session.options.runs and bool(session.idle_after_w or session.options.idle_s <= 0)

    def _inputs_of_it(self) -> list[Path]:
        return [self._input] + ([self._skewed_input] if self._request.category == DAYTONA else [])

    def _needs(self) -> list[Need]:
        r = self._request
        return needs(r.records, r.sort_words, Path(r.data), self._inputs_of_it(), self._output)

    def _check_space(self) -> None:
        data, what = Path(self._request.data), f"the {'rehearsal' if self._request.rehearsal else 'class'} {self._name}"
        check_space(least(self._request.records, data, self._inputs_of_it(), self._output), what)
        check_space(self._needs(), what)

    def _inputs(self, state: State) -> State:
        """The input is there and is what the generator made; the plan of its sort is known."""
        made = self._made(state.input, self._input, skewed=False)
        state = replace(state, input=made)
        self._place.save(state)
        if not state.plan:
            state = replace(state, plan=sorter.plan_text(self._request.sort_words, self._input, self._output))
            self._place.save(state)
        return state

    def _made(self, known: Generated | None, path: Path, skewed: bool) -> Generated:
        """An input that was generated before is read once more; one that is gone is generated again."""
        if known is not None and path.exists():
            with self._display.line(f"verifying {path}"):
                sorter.verify(known)
            return known
        with self._display.line(f"generating {path} ({self._request.records} records)"):
            made = sorter.generate(path, self._request.records, skewed)
        if known is not None and made.checksum != known.checksum:
            raise RunError(f"{path} was generated again and differs: {made.checksum} is not {known.checksum}")
        return made

    def _measure(self, state: State) -> None:
        assert state.input is not None
        options = self._options()
        directory = ResultDirectory(self._place.result)
        earlier = directory.session() if directory.session_path.exists() else None
        measure(directory, earlier.options if earlier is not None else options, earlier, None)
        found = directory.session().input_report
        if found is None or found.checksum != state.input.checksum:
            raise RunError(f"{self._input}: the validator's checksum is not the generator's, {state.input.checksum}")

    def _options(self) -> Options:
        r = self._request
        return Options(
            command=sorter.sort_command(r.sort_words, self._input, self._output),
            runs=r.runs,
            meters=r.meters,
            sum_meters=r.sum_meters,
            cold=True,
            input=str(self._input),
            output=str(self._output),
            idle_s=r.idle_s,
            pause_s=r.pause_s,
            settle_s=r.settle_s,
            probe_s=r.probe_s,
            config=r.config,
            ambient_c=self._ambient_c,
            rehearsal=r.rehearsal,
        )

    def _skewed(self, state: State) -> Skewed:
        """One timed run on skewed keys, in a result directory of its own."""
        directory = ResultDirectory(self._place.skewed)
        if not (directory.session_path.exists() and directory.runs()):
            made = self._made(state.skewed_input, self._skewed_input, skewed=True)
            self._place.save(replace(state, skewed_input=made))
            state = replace(state, skewed_input=made)
            earlier = directory.session() if directory.session_path.exists() else None
            options = Options(
                command=sorter.sort_command(self._request.sort_words, self._skewed_input, self._output),
                runs=1,
                meters=[],
                cold=True,
                input=str(self._skewed_input),
                output=str(self._output),
                idle_s=0.0,
                pause_s=self._request.pause_s,
                settle_s=self._request.settle_s,
                time_only=True,
                rehearsal=True,
            )
            measure(directory, options, earlier, None)
        return self._judge_skewed(state, directory)

    def _judge_skewed(self, state: State, directory: ResultDirectory) -> Skewed:
        session, (run,) = directory.session(), directory.runs()
        made = state.skewed_input
        assert made is not None
        fatal = [d.text for d in check(directory) if d.fatal and d.code not in _OF_TIME_ONLY]
        if not is_validated(run):
            fatal.append("the output was not validated")
        if session.input_report is None or session.input_report.checksum != made.checksum:
            fatal.append("the input is not what was generated")
        seal = head_of(directory.path)
        return Skewed(
            generated=made,
            command=run.command,
            seconds=run.marks.seconds,
            input_report=session.input_report,
            output_report=run.validation.report if run.validation is not None else None,
            problem="; ".join(fatal) or None,
            seal=seal.digest if seal is not None else MISSING,
        )

    def _write_entry(self, state: State, skewed: Skewed | None) -> None:
        """Sealed into the result, once: making the reports anew changes nothing in it."""
        assert state.input is not None
        entry = Entry(ENTRY_SCHEMA, self._request.category, self._name, state.input, state.plan, skewed)
        if read_entry(self._place.result) == entry:
            return
        seal = Seal(self._place.result)
        try:
            seal.document(self._place.result / ENTRY, entry)
        finally:
            seal.close()

    def _conclude(self) -> int:
        result = gather(ResultDirectory(self._place.result), None)
        self._add_ambient(result)
        terminal.show(result)
        sound = self._show_check(result)
        self._write_reports(result)
        return EXIT_OK if sound and result.summary.ok and result.energy is not None else EXIT_INVALID

    def _add_ambient(self, result: Result) -> None:
        """Adds what was not said with the first run, which is sealed and stays."""
        if self._ambient_c is None:
            return
        said = f"{self._ambient_c:g}"
        known = result.facts.setdefault("ambient_c", said)
        if known != said:
            click.echo(f"AMBIENT    stays {known} C, as was said when the entry was begun; to say {said} C begin another")

    def _show_check(self, result: Result) -> bool:
        found = check(result.directory)
        broken = first_broken_link(found)
        if broken is not None:
            click.echo(f"the first link that is broken: [{broken.code}] {broken.text}")
        fatal = [d for d in found if d.fatal]
        for d in fatal:
            click.echo(f"DEFECT [{d.code}] {d.text}")
        click.echo(f"check      {'no defect' if not fatal else f'{len(fatal)} defect' + 's' * (len(fatal) > 1)}")
        return not fatal

    def _write_reports(self, result: Result) -> None:
        base = self._place.path
        write_text(base / "submission.md", markdown.render(result))
        write_text(base / "submission.html", html.render(result))
        drawn = figures(result)
        if drawn and plots.can_draw():
            plots.save(drawn, base / "figures")
        elif drawn:
            click.echo(plots.WITHOUT)
        missing = [f.name for s in sections(result) for f in s.facts if f.value == MISSING]
        click.echo(f"submission {base / 'submission.md'}, {base / 'submission.html'}")
        if result.summary.runs_valid < result.summary.runs_done:
            click.echo("INVALID    some runs do not hold; measure them again: the same command with --repeat-invalid")
        if missing:
            click.echo(f"MISSING    {', '.join(dict.fromkeys(missing))}")
            click.echo(f"           answer them in {base / facts.FILE_NAME} and give the same command again")


def set_invalid_aside(directory: ResultDirectory) -> None:
    """Sets runs without a result that holds aside and measures them again; what is left of them stays, sealed, and the submission
    says so.
    """
    if not directory.session_path.exists():
        return
    seal = Seal(directory.path)
    try:
        for run in directory.runs():
            if not run.valid:
                set_aside(directory.run_path(run.index), seal, "invalid")
    finally:
        seal.close()


def joulesort(path: Path, request: Request, ambient_c: float | None, repeat_invalid: bool, again: str) -> int:
    """The exit code says whether the entry holds. `again`: the command that continues, said where it is interrupted."""
    sorter.check_words(request.sort_words)
    sorter.check_names(request.sort_words, request.data)
    data = Path(request.data)
    with directory(data), alone_in(data), locked(path) as place:
        try:
            if repeat_invalid:
                set_invalid_aside(ResultDirectory(place.result))
                set_invalid_aside(ResultDirectory(place.skewed))
            return Joulesort(place, request, ambient_c).run()
        except (PowerError, OSError) as error:  # OSError: a full drive
            if place.state_path.exists() and not isinstance(error, UsageError):
                say_how_to_continue(error, place.path, again)
            raise
