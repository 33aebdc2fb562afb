"""Making weights: reproducible, and learning what samples teach."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from merels.engine.core import core
from merels.engine.core.convert import core_board
from merels.engine.game.position import Position
from merels.engine.game.rules import make_rules
from merels.engine.tablebase.build import Builder
from merels.engine.tablebase.solve import Prover
from merels.engine.tools.sample import random_position
from merels.engine.training import fit

BALANCED = (0b0101_0101, 0b0101_0101 << 8, 0, 0, 1)
AHEAD = (0b0101_0101_0101, 0b0101_0000 << 12, 0, 0, 1)


pytestmark = pytest.mark.usefixtures("own_weights")


def samples(result: float) -> bytes:
    """Many samples of one position in which the side with more men scores ``result``."""
    return (fit.SAMPLE.pack(*AHEAD, result, result) + fit.SAMPLE.pack(*BALANCED, 0.5, 0.5)) * 500


def test_samples_are_learnt() -> None:
    rules = (1, False, False, False, 3, 80, 0)
    for result in (0.9, 0.1):
        fitting = core.Fit(0.5)
        before = fitting.epoch(samples(result), 0)
        for _ in range(5):
            fitting.epoch(samples(result), 0.1)
        assert fitting.epoch(samples(result), 0) < before / 10
        core.load_weights(fitting.weights())
        ahead = core.evaluate(rules, (*AHEAD[:4], 0))
        assert (ahead > 150) if result > 0.5 else (ahead < -150)
        assert abs(core.evaluate(rules, (*BALANCED[:4], 0))) < 60


def test_shuffling_keeps_every_sample() -> None:
    chance = random.Random(1)
    data = bytearray(chance.randbytes(20 * 1000))
    first, again = bytearray(data), bytearray(data)
    core.shuffle(first, 3)
    core.shuffle(again, 3)
    assert first == again != data

    def cut(block: bytearray) -> list[bytes]:
        return sorted(bytes(block[i : i + 20]) for i in range(0, len(block), 20))

    assert cut(first) == cut(data)


def test_the_truth_replaces_what_games_said(tmp_path: Path) -> None:
    """Of a position that tables know, and of one with men in hand whose proof they allow."""
    rules = make_rules("morris")
    tables = Builder(tmp_path, rules).build(8)
    chance = random.Random(5)
    moving = [random_position(tables, 4, 3, chance) for _ in range(200)]
    placing = [
        Position(rules, core_board(position)[:2], (0, 1)) for position in moving[:10]
    ]
    never = fit.SAMPLE.pack(*core_board(moving[0])[:4], 0, 0.25, 0.25)
    piece = b"".join(
        fit.SAMPLE.pack(*core_board(position)[:4], 1, 0.25, 0.25)
        for position in (*moving, *placing)
    )
    labelled = list(fit.SAMPLE.iter_unpack(fit.Truth(tmp_path).label(piece + never)))
    assert labelled[-1][-1] == 0.25, "a sample of another way of flying"
    prover = Prover(tables, 1)
    for position, sample in zip(moving, labelled):
        known = tables.probe(position)
        assert known is not None and sample[-2:] == (0.25, (1 + known.value) / 2)
    for position, sample in zip(placing, labelled[len(moving):]):
        assert sample[-2:] == (0.25, (1 + prover.value(position)) / 2)
    assert len({sample[-1] for sample in labelled}) > 2


def test_tables_that_do_not_reach_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And nothing is written: without ``-out`` that would be the weights of the package."""
    monkeypatch.setattr(fit, "CHUNK", 6)
    monkeypatch.setattr(fit, "ROUNDS", (fit.Round(18, 60, 0.0),))
    made = tmp_path / "weights.bin"
    words = ["-tables", str(tmp_path / "none"), "-work", str(tmp_path / "work")]
    with pytest.raises(SystemExit) as left:
        fit.main([*words, "-out", str(made), "-scale", "0"])
    assert left.value.code == 2
    assert "expected all tables" in capsys.readouterr().err
    assert not made.exists()


def test_the_same_command_makes_the_same_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit, "CHUNK", 6)
    monkeypatch.setattr(fit, "ROUNDS", (fit.Round(18, 60, 0.0), fit.Round(18, 100, 0.5)))
    made: list[bytes] = []
    for processes in (1, 2, 2):
        path, work = tmp_path / f"{len(made)}.bin", tmp_path / f"work{processes}"
        words = ["-out", str(path), "-processes", str(processes), "-work", str(work)]
        assert fit.main(words) == 0
        made.append(path.read_bytes())
        # The third run finds one piece gone and plays it again.
        pieces = sorted(work.glob("*.samples"))
        assert len(pieces) == 6
        pieces[1].unlink()
    assert made[0] == made[1] == made[2]
    assert len(made[0]) == core.WEIGHTS_SIZE
    assert any(made[0])
