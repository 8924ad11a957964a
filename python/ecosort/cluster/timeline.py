"""A job as a picture (SVG): a row for each worker, a bar for each task, a colour for each stage."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ecosort.cluster.report import ClusterReport, TaskSpan

_COLOURS = {
    "fetch": "#577590",
    "sample": "#8d99ae",
    "split": "#2b2d42",
    "partition": "#2a9d8f",
    "reduce": "#e76f51",
    "reread": "#e9c46a",
}
_WIDTH, _LEFT, _ROW, _TOP = 900, 90, 18, 40


def lanes_of(spans: Sequence[TaskSpan]) -> list[tuple[str, list[TaskSpan]]]:
    """Spans of a node side by side where they overlap: as many lanes as it had tasks at a time."""
    lanes: dict[str, list[list[TaskSpan]]] = {}
    for span in sorted(spans, key=lambda one: one.begin_s):
        own = lanes.setdefault(span.node, [])
        free = next((lane for lane in own if lane[-1].end_s <= span.begin_s), None)
        if free is None:
            own.append([span])
        else:
            free.append(span)
    return [(node, lane) for node in sorted(lanes) for lane in lanes[node]]


def timeline_svg(report: ClusterReport) -> str:
    """Self-contained; a title on each bar names its task, seconds and bytes."""
    lanes = lanes_of(report.spans)
    begin = min(span.begin_s for span in report.spans)
    scale = (_WIDTH - _LEFT - 10) / max(report.wall_s, 1e-9)
    height = _TOP + _ROW * len(lanes) + 30
    body = [_legend(), *(_lane(number, node, lane, begin, scale) for number, (node, lane) in enumerate(lanes))]
    body += [_axis(report.wall_s, scale, height)]
    frame = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" font-size="11">'
    return "\n".join([frame, f'<rect width="{_WIDTH}" height="{height}" fill="white"/>', *body, "</svg>", ""])


def _legend() -> str:
    places = enumerate(_COLOURS.items())
    return "\n".join(
        f'<rect x="{_LEFT + 110 * number}" y="12" width="12" height="12" fill="{colour}"/>'
        f'<text x="{_LEFT + 110 * number + 17}" y="22">{stage}</text>'
        for number, (stage, colour) in places
    )


def _lane(number: int, node: str, lane: Sequence[TaskSpan], begin: float, scale: float) -> str:
    top = _TOP + _ROW * number
    name = f'<text x="{_LEFT - 8}" y="{top + 12}" text-anchor="end">{escape(node[:14])}</text>'
    return "\n".join([name, *(_bar(span, top, begin, scale) for span in lane)])


def _bar(span: TaskSpan, top: int, begin: float, scale: float) -> str:
    left = _LEFT + (span.begin_s - begin) * scale
    width = max(0.5, (span.end_s - span.begin_s) * scale)
    told = f"{span.task}: {span.end_s - span.begin_s:.2f} s, {span.bytes_read} bytes read, {span.bytes_written} written"
    return (
        f'<rect x="{left:.2f}" y="{top}" width="{width:.2f}" height="{_ROW - 4}" fill="{_COLOURS[span.stage]}">'
        f"<title>{escape(told)}</title></rect>"
    )


def _axis(wall_s: float, scale: float, height: int) -> str:
    seconds = (wall_s * step / 4 for step in range(5))
    return "\n".join(
        f'<text x="{_LEFT + at * scale:.1f}" y="{height - 10}" text-anchor="middle">{at:.3g} s</text>' for at in seconds
    )
