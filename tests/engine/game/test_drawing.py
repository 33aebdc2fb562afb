"""The SVG picture of a position, which shows what the page draws."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from merels.engine import InputError, Position

PAGE = Path(__file__).parents[3] / "protocol" / "web" / "page"
CIRCLE = "{http://www.w3.org/2000/svg}circle"


def test_every_man_is_drawn_on_its_point() -> None:
    position = Position().push("d6").push("f4").push("a1")
    picture = ElementTree.fromstring(position.svg(200))
    men = {
        (circle.get("cx"), circle.get("cy")): (circle.get("fill") or "")[12:-1]
        for circle in picture.iter(CIRCLE) if circle.get("r") == "36"
    }
    assert men == {("350", "150"): "white", ("550", "350"): "black", ("50", "650"): "white"}
    assert len(list(picture.iter(CIRCLE))) == 24
    assert picture.get("aria-label") == "White: a1 d6; Black: f4"
    assert (picture.get("width"), picture.get("role")) == ("200", "img")
    assert position._repr_svg_() == position.svg()


@pytest.mark.parametrize("size", [0, -1, 5000, "400", 2.5])
def test_a_size_that_no_picture_has_is_refused(size: object) -> None:
    with pytest.raises(InputError, match="whole number from 1 to 4096"):
        Position().svg(size)  # type: ignore[arg-type]


def test_the_picture_has_the_measures_and_colours_of_the_page() -> None:
    script = (PAGE / "drawing.js").read_text(encoding="utf-8")
    theme = (PAGE / "theme.css").read_text(encoding="utf-8")
    picture = Position().push("d6").svg()
    radius = re.search(r"MAN_RADIUS = (\d+)", script)
    assert radius is not None and f'r="{radius[1]}"' in picture
    for text in ("-14 0 714 714", "M350 50V250M350 450V650M50 350H250M450 350H650"):
        assert text in script and text in picture
    for name in ("board", "line", "white-rim"):
        colour = re.search(rf"--{name}: light-dark\((#\w+)", theme)
        assert colour is not None and colour[1] in picture, name
