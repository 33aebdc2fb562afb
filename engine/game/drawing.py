"""A position as an SVG picture: the drawing of the page, in the light colours of its wood."""

from __future__ import annotations

from merels.engine.common.numbers import whole_number
from merels.engine.game.board import NAMES

_MAN_RADIUS = 36
_LINES = (
    "M50 50H650V650H50ZM150 150H550V550H150ZM250 250H450V450H250Z"
    "M350 50V250M350 450V650M50 350H250M450 350H650"
)
_GRADIENTS = {"white": ("#fff", "#fffdf6", "#e7e0d3"), "black": ("#726d6a", "#2a2320", "#221c1a")}
"""Colours of the men from the light to the edge."""
_RIMS = {"white": "#4a3826", "black": "#a4957f"}
_LARGEST = 4096


def draw_svg(men: tuple[int, int], size: int) -> str:
    """Return an SVG picture of a board, ``size`` pixels wide; ``men`` are both sides' masks."""
    whole_number(size, 1, _LARGEST, "size")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-14 0 714 714" width="{size}" '
        f'height="{size}" role="img" aria-label="{_description(men)}"><defs>'
    ]
    for name, colours in _GRADIENTS.items():
        stops = "".join(
            f'<stop offset="{offset}" stop-color="{colour}"/>'
            for offset, colour in zip((0, 0.5, 1), colours)
        )
        parts.append(
            f'<radialGradient id="merels-{name}" cx=".36" cy=".3" r=".8">{stops}</radialGradient>'
        )
    parts.append(
        '</defs><rect x="-12" y="2" width="710" height="710" rx="20" fill="#dcb97f"/>'
        f'<path d="{_LINES}" fill="none" stroke="#5b3a1a" stroke-width="3.5"/>'
        '<g font-family="system-ui, sans-serif" font-weight="600" font-size="18" fill="#5b3a1a" '
        'text-anchor="middle" dominant-baseline="central">'
    )
    for index in range(7):
        place = 50 + 100 * index
        parts.append(f'<text x="{place}" y="699">{"abcdefg"[index]}</text>')
        parts.append(f'<text x="0" y="{place}">{7 - index}</text>')
    parts.append("</g>")
    for point, name in enumerate(NAMES):
        x, y = 50 + 100 * "abcdefg".index(name[0]), 50 + 100 * (7 - int(name[1]))
        colour = "white" if men[0] >> point & 1 else "black" if men[1] >> point & 1 else ""
        if colour:
            parts.append(
                f'<circle cx="{x}" cy="{y}" r="{_MAN_RADIUS}" fill="url(#merels-{colour})" '
                f'stroke="{_RIMS[colour]}" stroke-width="2.5"/>'
            )
        else:
            parts.append(f'<circle cx="{x}" cy="{y}" r="8" fill="#5b3a1a"/>')
    return "".join((*parts, "</svg>"))


def _description(men: tuple[int, int]) -> str:
    """Return the picture in words, for people who cannot see it."""
    sides = (
        f"{colour}: {' '.join(sorted(NAMES[p] for p in range(len(NAMES)) if mask >> p & 1))}"
        for colour, mask in zip(("White", "Black"), men) if mask
    )
    return "; ".join(sides) or "An empty board"
