"""HTML for notebooks."""

from __future__ import annotations

from html import escape
from typing import Any

COLOURS = ("#1f6fb2", "#c2571a", "#3b8440", "#8a4fa3")
WIDTH, HEIGHT, EDGE = 360, 200, 40


def preformatted(text: str) -> str:
    return f'<pre style="line-height:1.2">{escape(text)}</pre>'


def plan_html(summary: dict[str, Any]) -> str:
    """The layers of a plan, from the JSON form of its summary."""
    rows = "".join(
        f"<tr><td>{escape(layer['name'])}</td><td>{escape(layer['type'])}</td>"
        f"<td>{'x'.join(map(str, layer['output_shape']))}</td><td>{layer['parameters']:,}</td></tr>"
        for layer in summary["layers"])
    total = summary["parameters"]["total"]
    return (f"<b>{escape(summary['name'])}</b>: {len(summary['layers'])} layers, {total:,} parameters"
            f"<table><tr><th>layer</th><th>type</th><th>output</th><th>parameters</th></tr>{rows}</table>")


def _curve(points: list[tuple[float, float]], low: float, high: float, last: float, colour: str) -> str:
    span = (high - low) or 1.0
    places = " ".join(f"{EDGE + (x - 1) / max(last - 1, 1) * (WIDTH - 2 * EDGE):.1f},"
                      f"{HEIGHT - EDGE - (y - low) / span * (HEIGHT - 2 * EDGE):.1f}" for x, y in points)
    dots = "".join(f'<circle cx="{place.split(",")[0]}" cy="{place.split(",")[1]}" r="2" fill="{colour}"/>'
                   for place in places.split())
    return f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="1.5"/>{dots}'


def _chart(title: str, rows: list[dict[str, Any]], names: list[str]) -> str:
    """The curves of some columns over the epochs."""
    curves = {name: [(row["epoch"], row[name]) for row in rows if isinstance(row.get(name), float)] for name in names}
    curves = {name: points for name, points in curves.items() if points}
    if not curves:
        return ""
    values = [y for points in curves.values() for _, y in points]
    low, high, last = min(values), max(values), max(row["epoch"] for row in rows)
    shapes = "".join(_curve(points, low, high, last, COLOURS[index % len(COLOURS)])
                     for index, points in enumerate(curves.values()))
    labels = "".join(f'<text x="{EDGE + 90 * index}" y="14" fill="{COLOURS[index % len(COLOURS)]}">{escape(name)}</text>'
                     for index, name in enumerate(("training", "validation")[: len(curves)]))
    return (f'<svg width="{WIDTH}" height="{HEIGHT}" font-size="11" font-family="sans-serif">'
            f'<text x="{WIDTH - EDGE}" y="14" text-anchor="end" font-weight="bold">{escape(title)}</text>{labels}'
            f'<path d="M{EDGE},{EDGE / 2} V{HEIGHT - EDGE} H{WIDTH - EDGE}" fill="none" stroke="#999"/>'
            f'<text x="{EDGE - 4}" y="{HEIGHT - EDGE}" text-anchor="end">{low:.3g}</text>'
            f'<text x="{EDGE - 4}" y="{EDGE}" text-anchor="end">{high:.3g}</text>'
            f'<text x="{WIDTH - EDGE}" y="{HEIGHT - EDGE + 14}" text-anchor="end">epoch {last}</text>{shapes}</svg>')


def history_html(rows: list[dict[str, Any]]) -> str:
    """A chart of the loss and of each metric, then the last epoch."""
    if not rows:
        return "<i>no epoch yet</i>"
    beside = {"epoch", "step", "learning_rate", "samples_per_second", "seconds"}
    names = [name for name in rows[-1] if name not in beside and not name.startswith("validation.")]
    charts = "".join(_chart(name, rows, [name, "validation." + name]) for name in names)
    last = rows[-1]
    values = ", ".join(f"{escape(name)} {value:.4g}" for name, value in last.items() if name not in beside)
    return f"{charts}<div>epoch {last['epoch']}: {values}</div>"
