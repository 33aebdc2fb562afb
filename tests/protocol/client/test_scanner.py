"""The compiled scanner against the same in readable Python."""

from __future__ import annotations

import random

from merels.protocol.client.scanner import count_junk, last_answer, last_score, parse_brief
from tests.protocol.client.readable_scanner import (
    count_unknown,
    find_answer,
    find_score,
    random_lines,
    read_brief,
)


def test_the_scanner_reads_what_readable_python_reads() -> None:
    chance = random.Random(15)
    answers = scores = ends = 0
    for _ in range(20_000):
        lines = random_lines(chance)
        end = chance.randrange(len(lines) + 3)
        inside = chance.random() < 0.5
        answer, info = last_answer(lines, inside), last_score(lines, end)
        assert answer == find_answer(lines, inside), lines
        assert count_junk(lines) == count_unknown(lines), lines
        assert info == find_score(lines, max(end, 0)), (lines, end)
        view = chance.randrange(2), chance.random() < 0.5, chance.random() < 0.5
        brief = parse_brief(info or lines, *view)
        figures = (brief.score, brief.win_in, brief.depth, brief.nodes)
        assert figures == read_brief(info or lines, *view), (info or lines, view)
        answers, scores = answers + (answer is not None), scores + (brief.score is not None)
        ends += brief.win_in is not None
    assert min(answers, scores, ends) > 1000
