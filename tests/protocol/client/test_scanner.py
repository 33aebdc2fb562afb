"""The compiled scanner agrees with a readable scanner in Python on random lines."""

from __future__ import annotations

import random

from merels.protocol.client.scanner import count_junk, last_answer, last_score, parse_summary
from tests.protocol.client.readable_scanner import (
    count_unknown,
    find_answer,
    find_score,
    random_lines,
    read_summary,
)


def test_the_compiled_scanner_agrees_with_the_readable_scanner() -> None:
    generator = random.Random(15)
    answers = scores = wins = 0
    for _ in range(20_000):
        lines = random_lines(generator)
        end = generator.randrange(len(lines) + 3)
        inside = generator.random() < 0.5
        answer, info = last_answer(lines, inside), last_score(lines, end)
        assert answer == find_answer(lines, inside), lines
        assert count_junk(lines) == count_unknown(lines), lines
        assert info == find_score(lines, max(end, 0)), (lines, end)
        arguments = generator.randrange(2), generator.random() < 0.5, generator.random() < 0.5
        summary = parse_summary(info or lines, *arguments)
        fields = (summary.score, summary.win_in, summary.depth, summary.nodes)
        assert fields == read_summary(info or lines, *arguments), (info or lines, arguments)
        answers, scores = answers + (answer is not None), scores + (summary.score is not None)
        wins += summary.win_in is not None
    assert min(answers, scores, wins) > 1000
