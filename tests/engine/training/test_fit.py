"""Training of the evaluation: samples, labels, fits and the command."""

from __future__ import annotations

import json
import os
import random
from array import array
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from merels.engine.core import core, trainer, weights
from merels.engine.core.convert import (
    PROVEN,
    core_board,
    core_moves,
    core_rules,
    decode_move,
)
from merels.engine.game.board import SIZE, SYMMETRIES
from merels.engine.game.notation import parse_position
from merels.engine.game.position import WHITE, Position
from merels.engine.game.rules import make_rules
from merels.engine.training import fit, self_play
from merels.engine.training.samples import draw, random_position
from merels.engine.training.self_play import Round
from tests.kit.samples import NO_POINTS, POINT, SAMPLE, Sample
from tests.kit.tables import built_tables

DATA = Path(__file__).parents[2] / "data"
RULES = (1, False, False, False, 3, 80, 0)
BALANCED = (0b0101_0101, 0b0101_0101 << 8, 0, 0, 1)
AHEAD = (0b0101_0101_0101, 0b0101_0000 << 12, 0, 0, 1)


pytestmark = pytest.mark.usefixtures("own_weights")


def samples(result: float) -> bytes:
    """Return samples of two positions: one ahead in men with this result, and a balanced draw."""
    ahead, balanced = Sample(*AHEAD, result, result), Sample(*BALANCED, 0.5, 0.5)
    return (ahead.pack() + balanced.pack()) * 500


def unpack(data: bytes) -> Iterator[Sample]:
    """Yield the samples of concatenated `Sample.pack` results."""
    men = (1 << SIZE) - 1
    for own, opponent, *both in SAMPLE.iter_unpack(data):
        points = [None if part == NO_POINTS else part / POINT for part in both]
        hands = own >> SIZE, opponent >> SIZE & 15
        yield Sample(own & men, opponent & men, *hands, opponent >> SIZE + 4, *points)


def part_of(data: bytes | bytearray) -> tuple[int, bytearray]:
    """Return the number of the only quarter of the phases that has samples, and its samples."""
    parts = trainer.split_samples(data)
    (number,) = (quarter for quarter, part in enumerate(parts) if part)
    return number, parts[number]


def test_a_fit_learns_its_samples() -> None:
    for result in (0.9, 0.1):
        quarter, data = part_of(samples(result))
        fitting = trainer.Fit(0.5, quarter)
        first_loss = fitting.epoch(data, 0)
        for _ in range(100):
            fitting.epoch(data, 0.01)
        assert fitting.epoch(data, 0) < first_loss / 10
        fitted = bytearray(core.WEIGHTS_SIZE)
        fitting.write(fitted)
        core.load_weights(bytes(fitted))
        ahead = core.evaluate(RULES, (*AHEAD[:4], 0))
        assert (ahead > 150) if result > 0.5 else (ahead < -150)
        assert abs(core.evaluate(RULES, (*BALANCED[:4], 0))) < 60


def random_samples(number: int, seed: int) -> bytes:
    """Return samples of random positions with random scores and results."""
    chance = random.Random(seed)
    rules = make_rules("morris")
    return b"".join(
        Sample.of(
            random_position(rules, chance.randint(3, 9), chance.randint(3, 9), chance),
            1, chance.randrange(5) / 4, chance.randrange(3) / 2,
        ).pack()
        for _ in range(number)
    )


def sorted_samples(block: bytes | bytearray) -> list[bytes]:
    """Return the samples in a block, sorted by their bytes."""
    size = trainer.SAMPLE_BYTES
    return sorted(bytes(block[i : i + size]) for i in range(0, len(block), size))


def test_a_sample_has_the_same_bytes_on_every_machine() -> None:
    sample = Sample(0x800001, 0x000102, 9, 8, 2, 0.5, None)
    assert sample.pack().hex(" ") == "01 00 80 09 02 01 00 28 00 40 ff ff"
    assert list(unpack(sample.pack())) == [sample]


def test_packed_samples_are_those_of_readable_python() -> None:
    chance, rules = random.Random(3), make_rules("morris")
    for _ in range(300):
        position = random_position(rules, chance.randint(3, 9), chance.randint(3, 9), chance)
        points = [chance.choice((None, 0.5, chance.random())) for _ in range(2)]
        expected = Sample.of(position, chance.randrange(3), *points)
        packed = trainer.pack_sample((*expected[:4], 0), expected.flying, *points)
        assert packed == expected.pack()
    for flying, score in ((3, 0.5), (-1, 0.5), (1, 1.5), (1, -1e-5), (1, float("nan"))):
        with pytest.raises(ValueError):
            trainer.pack_sample((1, 2, 8, 8, 0), flying, score, None)


def test_shuffling_keeps_every_sample() -> None:
    data = random_samples(1000, seed=1)
    first, again = bytearray(data), bytearray(data)
    trainer.shuffle(first, 3)
    trainer.shuffle(again, 3)
    assert first == again != data
    assert sorted_samples(first) == sorted_samples(data)


def test_quarters_of_the_phases_are_fitted_independently() -> None:
    """Each fit writes its own part of the weights, and refuses samples of other quarters."""
    chance = random.Random(6)
    data = bytearray(random_samples(300, seed=5))
    for _ in range(300):
        hands = chance.randint(1, 8), chance.randint(1, 8)
        data += Sample(0b1, 0b10, *hands, 1, 0.5, chance.randrange(3) / 2).pack()
    trainer.shuffle(data, 3)
    parts = trainer.split_samples(data)
    assert all(parts) and sorted_samples(b"".join(parts)) == sorted_samples(data)
    assert [
        {sample.own_hand > 0 for sample in unpack(bytes(part))} for part in parts
    ] == [{True}, {True}, {False}, {False}]
    fits = [trainer.Fit(0.5, quarter) for quarter in range(len(parts))]
    separate: list[bytes] = []
    together = bytearray(core.WEIGHTS_SIZE)
    for number, (fitting, part) in enumerate(zip(fits, parts)):
        with pytest.raises(ValueError, match="of another quarter of the phases"):
            fitting.epoch(parts[number - 1], 0.1)
        fitting.epoch(part, 0.1)
        fitting.write(together)
        written = bytearray(core.WEIGHTS_SIZE)
        fitting.write(written)
        separate.append(bytes(written))
    assert all(any(written) for written in separate)
    assert bytes(map(max, *separate)) == bytes(together) == bytes(map(sum, zip(*separate)))
    with pytest.raises(ValueError, match="a quarter from 0 to 3, found 4"):
        trainer.Fit(0.5, 4)
    with pytest.raises(ValueError, match="a share from 0 to 1, found 2"):
        trainer.Fit(2, 0)
    with pytest.raises(ValueError, match="a rate from 0 to 1, found nan"):
        fits[0].epoch(parts[0], float("nan"))
    with pytest.raises(ValueError, match="a decay from 0 to 1, found -1"):
        fits[0].epoch(parts[0], 0.1, -1)
    with pytest.raises(ValueError, match=f"expected {core.WEIGHTS_SIZE} bytes of weights, found 3"):
        fits[0].write(bytearray(3))


def test_invalid_samples_are_refused() -> None:
    sound = Sample(0b1, 0b10, 0, 0, 1, 0.5, 0.5)
    for data, expected in (
        (bytes(19), "samples of 12 bytes each, found 19"),
        (sound._replace(own=0b10).pack(), "sample 0 has an impossible board"),
        (sound.pack() + sound._replace(own_hand=9).pack(), "sample 1 has an impossible board"),
        (sound._replace(flying=3).pack(), "sample 0 has an unknown value of Flying: 3"),
        (sound._replace(result=1.5).pack(), "sample 0 has a score or a result above one point"),
    ):
        for call in (
            lambda: trainer.Fit(0.5, 2).epoch(data, 0.1),
            lambda: trainer.split_samples(data),
            lambda: trainer.shuffle(bytearray(data), 1),
            lambda: trainer.select_samples(data, array("Q"), False),
            lambda: trainer.labelled_samples(data),
            lambda: trainer.label_samples(core.TableSet(RULES), data),
        ):
            with pytest.raises(ValueError, match=expected):
                call()


def test_a_fit_refuses_samples_without_a_result() -> None:
    """Read as a result, the number that marks an unknown result would be two points."""
    quarter, data = part_of(samples(0.9) + Sample(*AHEAD, 0.9, None).pack())
    with pytest.raises(ValueError, match="sample 1000 has no result"):
        trainer.Fit(0.5, quarter).epoch(data, 0.01)


def test_held_out_positions_are_not_selected_for_a_fit() -> None:
    """One position in 64 is held out, with its images. ``keys`` names positions to drop."""
    chance = random.Random(8)
    data = random_samples(8_000, seed=2)
    size = trainer.SAMPLE_BYTES
    pieces = [data[i : i + size] for i in range(0, len(data), size)]
    all_keys = [trainer.board_key((*sample[:4], 0)) for sample in unpack(data)]
    keys = array("Q", sorted(set(all_keys[:50])))
    kept = trainer.select_samples(data, keys, False)
    held_out = trainer.select_samples(data, keys, True)
    assert 80 < len(held_out) // size < 180
    others = [piece for piece, key in zip(pieces, all_keys) if key not in keys]
    assert sorted_samples(bytes(kept) + bytes(held_out)) == sorted(others)
    for sample in unpack(bytes(held_out)):
        assert trainer.is_held_out((*sample[:4], 0))
        symmetry = chance.choice(SYMMETRIES)
        own, opponent = (
            sum(1 << symmetry[point] for point in range(24) if men >> point & 1)
            for men in (sample.own, sample.opponent)
        )
        assert trainer.is_held_out((own, opponent, *sample[2:4], 0))


def test_table_values_replace_game_results() -> None:
    """Positions in the tables, with or without men in hand, get their table values as results."""
    rules = make_rules("morris")
    tables = built_tables(rules, 8)
    chance = random.Random(5)
    moving = [random_position(rules, 4, 3, chance) for _ in range(200)]
    placing = [Position.of(rules, core_board(position)[:2], (1, 0)) for position in moving[:10]]
    never = Sample.of(moving[0], 0, 0.25, 0.25)
    piece = b"".join(
        Sample.of(position, 1, 0.25, 0.25).pack() for position in (*moving, *placing)
    )
    labelled = list(unpack(trainer.label_samples(tables.core, piece + never.pack())))
    assert labelled[-1] == never, "a sample with another value of Flying"
    for position, sample in zip((*moving, *placing), labelled):
        stored = tables.probe(position)
        assert stored is not None and sample[-2:] == (0.25, (1 + stored.value) / 2)
    assert len({sample[-1] for sample in labelled}) > 2


def test_hash_table_positions_become_samples() -> None:
    """Short searches score the positions, or their children, and the tables label them."""
    rules = make_rules("morris")
    tables = built_tables(rules, 8)
    chance = random.Random(9)
    position = random_position(rules, 4, 4, chance)
    while (entry := tables.probe(position)) is None or entry.value:
        position = random_position(rules, 4, 4, chance)
    table = core.TranspositionTable(1)
    worker = core.SearchWorker(table)
    worker.run(
        core_rules(rules), core_board(position), [], core_moves(position),
        lambda depth, lines: False, node_limit=50_000,
    )
    hashed = bytes(trainer.hash_samples(table, core_rules(rules), 300, 7))
    assert len(hashed) == 300 * trainer.SAMPLE_BYTES
    assert {sample[-2:] for sample in unpack(hashed)} == {(None, None)}
    scored = bytes(trainer.score_samples(worker, core_rules(rules), hashed, 200, 250.0))
    labelled = trainer.labelled_samples(trainer.label_samples(tables.core, scored))
    assert len(labelled) == len(hashed)
    errors = 0
    for sample in unpack(bytes(labelled)):
        stored = tables.core.probe((*sample[:4], 0))
        assert stored is not None and sample.result == (1 + stored[0]) / 2
        assert sample.score is not None
        errors += abs(sample.score - sample.result) > 0.4
    assert errors < 30
    assert not trainer.labelled_samples(hashed)


def test_leaves_come_from_right_and_wrong_moves_of_critical_positions() -> None:
    """A critical position gives at most one leaf after a right and one after a wrong move."""
    rules = make_rules("loc")
    tables = built_tables(rules, 8)
    worker = core.SearchWorker(core.TranspositionTable(1))
    chance = random.Random(4)
    total = 0
    for _ in range(120):
        position = random_position(rules, 4, 4, chance)
        piece = Sample.of(position, 0, 0.5, 0.5).pack()
        data = trainer.leaf_samples(tables.core, worker, piece, 100)
        leaves = list(unpack(bytes(data)))
        values = [stored.value for _, stored in tables.moves(position) if stored is not None]
        best = max(values)
        if best < 0 or 3 * values.count(best) > len(values):
            assert not leaves
        assert len(leaves) <= 2
        for leaf in leaves:
            assert leaf[-2:] == (None, None) and tables.core.probe((*leaf[:4], 0)) is not None
        total += len(leaves)
    assert total > 40
    with pytest.raises(ValueError, match="at least one node"):
        trainer.leaf_samples(tables.core, worker, piece, 0)


def test_samples_are_drawn_from_every_table() -> None:
    tables = built_tables(make_rules("morris"), 7)
    data = b"".join(draw(tables, 30, 20))
    assert data == b"".join(draw(tables, 30, 20))
    counts = Counter(
        (sample.own.bit_count(), sample.opponent.bit_count())
        for sample in unpack(data)
        if not sample.own_hand + sample.opponent_hand
    )
    assert {sides: number for sides, number in counts.items() if sum(sides) <= 7} == {
        (3, 3): 30, (4, 3): 30, (3, 4): 30
    }
    for sample in unpack(data):
        stored = tables.core.probe((*sample[:4], 0))
        assert stored is not None and sample[-2:] == (None, (1 + stored[0]) / 2)


def test_incomplete_tables_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(self_play, "CHUNK", 6)
    monkeypatch.setattr(fit, "ROUNDS", (Round(18, 60),))
    path = tmp_path / "weights.bin"
    words = ["-tables", str(tmp_path / "none"), "-work", str(tmp_path / "work")]
    with pytest.raises(SystemExit) as exit_info:
        fit.main([*words, "-out", str(path), "-scale", "0"])
    assert exit_info.value.code == 2
    assert "expected all tables" in capsys.readouterr().err
    assert not path.exists()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "suite.json: No such file or directory"),
        (b'["\xff"]', "expected text in UTF-8, found byte 0xff at offset 2"),
        (b"{}", "expected a JSON list of objects with a position"),
        (b"[1]", "expected a JSON list of objects with a position"),
        (b'[{"position": "x"}]', "position 1, "),
    ],
)
def test_an_unusable_file_of_unseen_positions_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    content: bytes | None, reason: str,
) -> None:
    monkeypatch.setattr(fit, "ROUNDS", ())
    path = tmp_path / "suite.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SystemExit):
        fit.main(["-unseen", str(path), "-work", str(tmp_path), "-out", str(tmp_path / "w")])
    error = capsys.readouterr().err.splitlines()[-1]
    assert reason in error and "suite.json" in error and "Errno" not in error


def test_training_without_memory_names_ways_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> NoReturn:
        raise MemoryError

    monkeypatch.setattr(fit, "_make", fail)
    with pytest.raises(SystemExit):
        fit.main(["-work", str(tmp_path), "-out", str(tmp_path / "w")])
    assert "not enough memory; close other programs" in capsys.readouterr().err


def test_self_play_forks_no_process_with_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(self_play, "CHUNK", 1)
    monkeypatch.setattr(self_play, "MAX_HASH_SAMPLES", 10)
    forks, fork = list[int](), os.fork

    def counted_fork() -> int:
        child = fork()
        forks.append(child)
        return child

    monkeypatch.setattr(os, "fork", counted_fork)
    pieces = self_play.self_play(tmp_path, bytes(core.WEIGHTS_SIZE), Round(2, 60), 1, 2)
    assert len(pieces) == 2 and all(pieces) and not forks


def test_the_same_command_makes_the_same_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(self_play, "CHUNK", 3)
    monkeypatch.setattr(self_play, "MAX_HASH_SAMPLES", 300)
    monkeypatch.setattr(fit, "EPOCHS", 2)
    monkeypatch.setattr(fit, "STEPS", 3)
    rounds = Round(9, 60), Round(9, 100), Round(3, 100, leaves=True)
    monkeypatch.setattr(fit, "ROUNDS", rounds)
    results: list[bytes] = []
    for processes in (1, 2, 2):
        path, work = tmp_path / f"{len(results)}.bin", tmp_path / f"work{processes}"
        words = ["-out", str(path), "-processes", str(processes), "-work", str(work)]
        assert fit.main(words) == 0
        results.append(path.read_bytes())
        # The third run shares the second run's folder, and plays the deleted chunk again.
        pieces = sorted(work.glob("*.samples"))
        assert len(pieces) == 8
        pieces[1].unlink()
        assert len(list(work.glob("*.weights"))) == 3
    assert results[0] == results[1] == results[2]
    payload = weights.unpack(results[0])
    assert len(payload) == core.WEIGHTS_SIZE and any(payload)


def test_self_play_searches_return_score_and_move() -> None:
    rules = make_rules("mill")
    position = parse_position("O*O*****/*@***@**/**O**@** w 0 0 3 60", rules)
    score, move = self_play._Player(rules, 200).search(position)
    outcome = position.play(decode_move(move)).outcome()
    assert score >= PROVEN and outcome is not None and outcome.winner == WHITE


def test_files_made_with_other_constants_are_not_reused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(self_play, "CHUNK", 2)
    monkeypatch.setattr(fit, "STEPS", 2)
    payload = bytes(core.WEIGHTS_SIZE)
    pieces = [
        self_play.self_play(tmp_path, payload, Round(2, nodes), seed, 1)
        for nodes, seed in ((60, 1), (90, 1), (60, 2), (60, 1))
    ]
    assert pieces[0] == pieces[3] and pieces[0] not in pieces[1:3]
    made = []
    for epochs in (1, 2, 1):
        monkeypatch.setattr(fit, "EPOCHS", epochs)
        made.append(fit._cached_fit(tmp_path, [random_samples(200, 1)], array("Q"), 1))
    assert made[0] == made[2] != made[1]


def test_the_critical_positions_are_held_out() -> None:
    """They are held out by their hash, regardless of the files named by ``-unseen``."""
    rows = json.loads((DATA / "critical.json").read_text(encoding="utf-8"))
    assert len(rows) == 2686
    for row in rows:
        assert trainer.is_held_out(core_board(parse_position(row["position"]))), row
