"""Plot of a parameter's value over the pairs of a tune."""

from __future__ import annotations

import re

from merels.tournament.records.settings import Parameter
from merels.tournament.report.svg import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH
from merels.tournament.tuning.report import parameter_plot

PARAMETER = Parameter("One", 50, 0, 100, 5.0)


def test_a_plot_shows_all_values_and_the_error_within_its_frame() -> None:
    points = [(0, 50.0), (40, 70.0), (100, 60.0)]
    plot = parameter_plot(PARAMETER, points, 100, 4.0)
    polyline = re.search(r'class="course" points="([^"]+)"', plot)
    assert polyline is not None
    line = [tuple(map(float, point.split(","))) for point in polyline[1].split()]
    assert [x for x, _ in line] == [LEFT, LEFT + 0.4 * (WIDTH - LEFT - RIGHT), WIDTH - RIGHT]
    heights = [y for _, y in line]
    assert all(TOP <= y <= HEIGHT - BOTTOM for y in heights)
    # Differences on the y axis are proportional to those of the values.
    assert heights[0] - heights[1] == 2 * (heights[0] - heights[2]) > 0
    error = re.search(r'class="error" x1="[\d.]+" y1="([\d.]+)" x2="[\d.]+" y2="([\d.]+)"', plot)
    assert error is not None
    low, high = map(float, error.groups())
    assert HEIGHT - BOTTOM >= low > heights[2] > high >= TOP
    assert "<title>60.0 ± 4.0</title>" in plot
    labels = [float(text) for text in re.findall(r'class="name"[^>]*>([^<]+)<', plot)]
    assert labels == sorted(labels) and labels[0] <= 45 and labels[-1] >= 70


def test_a_plot_without_an_error_shows_none() -> None:
    plot = parameter_plot(PARAMETER, [(0, 50.0), (10, 50.0)], 10, None)
    assert "error" not in plot and "<title>50.0</title>" in plot
