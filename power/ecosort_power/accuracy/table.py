"""The results of a sweep: the file they are kept in, what they say, and their part of power/README.md."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ecosort_power import codec
from ecosort_power.accuracy.meters import KINDS
from ecosort_power.accuracy.sweep import AGAIN, HIGH, LENGTHS_S, LOW, PERIODS_S, Cell, Outcome
from ecosort_power.errors import UsageError

SCHEMA = "ecosort.power.accuracy/1"
BEGIN = "<!-- accuracy: begin (written by make power-accuracy) -->"
END = "<!-- accuracy: end -->"

MAX_BIAS = 0.001
# A bias smaller than this many of its standard errors is not shown by so few runs.
NOT_SHOWN = 4.0
DIGITS = 6


@dataclass(frozen=True, slots=True)
class Results:
    schema: str
    runs: int  # per cell
    named_runs: int
    seed: int
    named: dict[str, Outcome]  # the shapes that the bias is reported for
    cells: list[Outcome]
    idle: dict[str, list[Outcome]] = field(default_factory=dict)  # other kinds of idle power, on some of the cells


def save(results: Results, path: Path) -> None:
    codec.write_rows(path, _rounded(asdict(results)))


def _rounded(value: object) -> object:
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_rounded(v) for v in value]
    return round(value, DIGITS) if isinstance(value, float) else value


def load(path: Path) -> Results:
    results = codec.load(Results, path)
    if results.schema != SCHEMA:
        raise UsageError(f"{path} has schema {results.schema}, this program reads {SCHEMA}")
    return results


def is_biased(outcome: Outcome) -> bool:
    """True if a bias above the limit is shown."""
    return outcome.bias is not None and abs(outcome.bias) > MAX_BIAS + NOT_SHOWN * (outcome.bias_se or 0.0)


def is_unresolved(outcome: Outcome) -> bool:
    """True if so many runs cannot show a bias of the limit: what they leave unknown is more than that."""
    return outcome.bias is not None and NOT_SHOWN * (outcome.bias_se or 0.0) > MAX_BIAS


def verdict(outcome: Outcome) -> str:
    """refused, right, wide (holds the truth in more than 98 % of the runs) or narrow (in less than 93 %)."""
    if outcome.coverage is None:
        return "refused"
    if outcome.coverage > HIGH:
        return "wide"
    return "narrow" if outcome.coverage < LOW else "right"


FEW_VALUES = 30  # of moments in a run
_WAVES = ("square", "spikes")


def why_wide(cell: Cell) -> str:
    """The first reason why the interval of such a cell must be wider than it turns out to be, in the words of the README."""
    kind = KINDS[cell.meter]
    has_gaps = 0 < kind.window_s < cell.period_s
    moments = has_gaps or (kind.power and not kind.window_s)
    reasons = {
        # A run is up to 6 % longer than its cell says, and has a value before and after it.
        "fewer than 30 values of moments": moments and cell.length_s / cell.period_s <= FEW_VALUES,
        "averages with gaps between them, which are taken for moments": has_gaps,
        "a power that moves through the steps of the meter": kind.quantum_w > 0 and cell.load == "ramp",
        "a square wave or spikes hardly slower than the readings": moments and cell.load.startswith(_WAVES),
        "a counter, whose steps hide how the idle power wanders": not kind.power,
        "a lag that is not known": not cell.lag_known,
        "averages without gaps, where only the two ends are uncertain": not moments,
    }
    return next((text for text, holds in reasons.items() if holds), "no reason that is known")


def _reasons(outcomes: Iterable[Outcome]) -> str:
    """Says how many wide cells there are of each reason, and the largest share of runs in them."""
    found: dict[str, list[float]] = {}
    for o in outcomes:
        if verdict(o) == "wide":
            found.setdefault(why_wide(o.cell), []).append(o.coverage or 0.0)
    ordered = sorted(found.items(), key=lambda item: -len(item[1]))
    parts = [f"{len(shares)} by {text} (up to {max(shares):.1%})" for text, shares in ordered]
    return f"Why wider (w), by the first reason that holds: {'; '.join(parts)}."


def _percent(value: float) -> str:
    if value < 1e-4:
        return "<0.01"
    return f"{value * 100:.2g}" if value < 0.995 else f"{value * 100:.0f}"


def _span(values: Iterable[float]) -> str:
    ordered = sorted(values)
    low, high = _percent(ordered[0]), _percent(ordered[-1])
    return low if low == high else f"{low} to {high}"


def _field(outcomes: Sequence[Outcome]) -> str:
    """All loads and lags of one meter, period and length in one field of the table."""
    known = [o for o in outcomes if o.coverage is not None]
    if not known:
        return "refused"
    low, high = min(o.coverage or 0.0 for o in known), max(o.coverage or 0.0 for o in known)
    marks = "".join(sorted({{"wide": "w", "narrow": "n"}.get(verdict(o), "") for o in known}))
    text = f"±{_span(o.interval or 0.0 for o in known)} %, {low * 100:.0f} to {high * 100:.0f} %, {_bias(known)}"
    return f"{text} ({marks})" if marks else text


def _bias(outcomes: Iterable[Outcome]) -> str:
    """The largest mean error."""
    return f"bias {_percent(max(abs(o.bias or 0.0) for o in outcomes))} %"


def render(results: Results) -> str:
    """The part of the README, between its markers."""
    found = [verdict(o) for o in results.cells]
    counts = {name: found.count(name) for name in ("right", "wide", "narrow", "refused")}
    biased, unresolved = (sum(map(holds, results.cells)) for holds in (is_biased, is_unresolved))
    answered = len(found) - counts["refused"]
    lines = [
        BEGIN,
        f"{len(found)} cells of {results.runs} simulated runs each. The 95 % interval holds the true energy in 93 to 98 % of "
        f"the runs in {counts['right']} of them, in more in {counts['wide']} (w), in less in {counts['narrow']} (n); in "
        f"{counts['refused']} the run is refused as too short for the meter.{_again(results)}",
        "",
        _reasons(results.cells),
        "",
        *_of_the_bias(biased, unresolved, answered),
        _where_it_shows(results.cells),
        "",
        "| shape | energy is wrong by, on average | standard error of that |",
        "|---|---|---|",
        *(f"| {name} | {o.bias or 0:+.3%} | {o.bias_se or 0:.3%} |" for name, o in results.named.items()),
        "",
        "Half width of the stated interval, and the share of the runs whose interval holds the true energy; smallest and largest "
        "over the six loads, lag known and not known; and the largest mean error among these, whatever chance has in it:",
        "",
        "| meter | a value every | " + " | ".join(f"run of {length:g} s" for length in LENGTHS_S) + " |",
        "|---|---|" + "---|" * len(LENGTHS_S),
    ]
    for meter in KINDS:
        for period in PERIODS_S:
            at = [[o for o in results.cells if _is(o.cell, meter, period, length)] for length in LENGTHS_S]
            if any(at):
                lines.append(f"| {meter} | {period:g} s | " + " | ".join(_field(o) if o else "" for o in at) + " |")
    return "\n".join([*lines, "", *_other_idle(results), END])


def _other_idle(results: Results) -> list[str]:
    """Says how often the interval holds the truth where the idle power wanders in another way."""
    if not results.idle:
        return []
    kinds = list(dict.fromkeys((o.cell.meter, o.cell.period_s) for found in results.idle.values() for o in found))
    lines = [
        "The same where the idle power of 10 W wanders in other ways than in the simulation above (0.2 W from one half second to "
        "the next, without memory), with a constant power and the lengths that the meter can know:",
        "",
        "| meter | a value every | " + " | ".join(results.idle) + " |",
        "|---|---|" + "---|" * len(results.idle),
    ]
    for meter, period in kinds:
        at = [[o for o in found if (o.cell.meter, o.cell.period_s) == (meter, period)] for found in results.idle.values()]
        lines.append(f"| {meter} | {period:g} s | " + " | ".join(_field(o) for o in at) + " |")
    return [*lines, "", _limits_of_idle(results), ""]


def _limits_of_idle(results: Results) -> str:
    """Says where an interval is too narrow with an idle power that a few values beside the run do not show."""
    known = [(kind, o) for kind, found in results.idle.items() for o in found if o.coverage is not None]
    narrow = sorted((o.coverage or 0.0, kind, str(o.cell)) for kind, o in known if verdict(o) == "narrow")
    text = (
        f"It holds the truth in {LOW * 100:.0f} % of the runs or more in {len(known) - len(narrow)} of these {len(known)} cases"
    )
    if not narrow:
        return f"{text}, which are all."
    worst, kind, cell = narrow[0]
    return (
        f"{text}. In the others a few values beside the run do not show how the idle power wanders; the fewest runs are "
        f"{worst * 100:.0f} %, of {cell}, with an idle power of the kind {kind!r}."
    )


def _again(results: Results) -> str:
    """Says which cells chance may have taken beyond the limits, and what they are."""
    found = [o.coverage or 0.0 for o in results.cells if o.coverage is not None and o.runs > results.runs]
    if not found:
        return ""
    more, shares = AGAIN * results.runs, f"{min(found):.1%} to {max(found):.1%}"
    return (
        f" {len(found)} cells that so many runs showed below 93 %, or above 98 % by no more than chance may, were simulated "
        f"again with {more} other runs, and appear here with what these found: {shares}."
    )


def _of_the_bias(biased: int, unresolved: int, answered: int) -> list[str]:
    """Says what counts as a bias, in how many cells there is one, and in how many one could not be seen."""
    limit, errors = f"{MAX_BIAS * 100:g} %", f"{NOT_SHOWN:g} of its standard errors"
    return [
        f"A bias counts as shown where the mean error exceeds {limit} by more than {errors}: in {biased} of the {answered} cells "
        f"with an energy. In {unresolved} of them {errors} are more than {limit}, so that so many runs cannot resolve a bias of "
        f"{limit}; in the other {answered - unresolved} they can."
    ]


def _where_it_shows(outcomes: Iterable[Outcome]) -> str:
    """The plain mean errors, whatever chance has in them."""
    known = [o for o in outcomes if o.bias is not None]
    above = [o for o in known if abs(o.bias or 0.0) > MAX_BIAS]
    text = f"The mean error itself is at most {MAX_BIAS * 100:g} % in {len(known) - len(above)} cells"
    if not above:
        return f"{text}, which are all."
    return (
        f"{text}; in the other {len(above)} the stated interval is ±{_percent(min(o.interval or 0.0 for o in above))} % or more."
    )


def _is(cell: Cell, meter: str, period_s: float, length_s: float) -> bool:
    return cell.meter == meter and cell.period_s == period_s and cell.length_s == length_s


def into(text: str, part: str) -> str:
    """The README with this part between the markers."""
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise UsageError(f"the README must have the line {BEGIN!r} once, and {END!r} once")
    return text[: text.index(BEGIN)] + part + text[text.index(END) + len(END) :]
