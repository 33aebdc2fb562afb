"""Making weights: reproducible, and learning what samples teach."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from merels.engine.core import core, weights
from merels.engine.core.convert import core_board
from merels.engine.game.position import Position
from merels.engine.game.rules import make_rules
from merels.engine.tablebase.build import Builder
from merels.engine.training import fit, self_play
from merels.engine.training.samples import Sample, Truth, random_position, unpack
from merels.engine.training.self_play import Round

BALANCED = (0b0101_0101, 0b0101_0101 << 8, 0, 0, 1)
AHEAD = (0b0101_0101_0101, 0b0101_0000 << 12, 0, 0, 1)


pytestmark = pytest.mark.usefixtures("own_weights")


def samples(result: float) -> bytes:
    """Many samples of one position in which the side with more men scores ``result``."""
    ahead, balanced = Sample(*AHEAD, result, result), Sample(*BALANCED, 0.5, 0.5)
    return (ahead.pack() + balanced.pack()) * 500


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


def test_what_is_no_sample_is_refused() -> None:
    twice = Sample(0b1, 0b1, 0, 0, 1, 0.5, 0.5)
    for data, expected in (
        (b"", "samples of 20 bytes"), (bytes(19), "found 19"), (twice.pack(), "sample 0 has an"),
    ):
        with pytest.raises(ValueError, match=expected):
            core.Fit(0.5).epoch(data, 0.1)
    with pytest.raises(ValueError, match="samples of 20 bytes"):
        core.shuffle(bytearray(), 1)


def test_the_truth_replaces_what_games_said(tmp_path: Path) -> None:
    """Of a position that tables know, with men in hand or without."""
    rules = make_rules("morris")
    tables = Builder(tmp_path, rules).build(8)
    chance = random.Random(5)
    moving = [random_position(rules, 4, 3, chance) for _ in range(200)]
    placing = [Position(rules, core_board(position)[:2], (1, 0)) for position in moving[:10]]
    never = Sample.of(moving[0], 0, 0.25, 0.25)
    piece = b"".join(
        Sample.of(position, 1, 0.25, 0.25).pack() for position in (*moving, *placing)
    )
    labelled = list(unpack(Truth(tmp_path).label(piece + never.pack())))
    assert labelled[-1] == never, "a sample of another way of flying"
    for position, sample in zip((*moving, *placing), labelled):
        known = tables.probe(position)
        assert known is not None and sample[-2:] == (0.25, (1 + known.value) / 2)
    assert len({sample[-1] for sample in labelled}) > 2


def test_random_positions_are_samples_where_tables_know_them(tmp_path: Path) -> None:
    Builder(tmp_path, make_rules("morris")).build(7)
    found = list(unpack(Truth(tmp_path).anywhere(300, 1)))
    assert 0 < len(found) < 300
    for sample in found:
        assert sample.own.bit_count() + sample.opponent.bit_count() <= 7
        assert sample.score == sample.result


def test_tables_that_do_not_reach_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And nothing is written: without ``-out`` that would be the weights of the package."""
    monkeypatch.setattr(self_play, "CHUNK", 6)
    monkeypatch.setattr(fit, "ROUNDS", (Round(18, 60, 0.0),))
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
    monkeypatch.setattr(self_play, "CHUNK", 6)
    monkeypatch.setattr(fit, "ROUNDS", (Round(18, 60, 0.0), Round(18, 100, 0.5)))
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
    payload = weights.unpack(made[0])
    assert len(payload) == core.WEIGHTS_SIZE and any(payload)
