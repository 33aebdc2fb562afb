"""The evaluation: symmetries, terms, and checks of its weights file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.engine.core import core, weights
from merels.engine.game.notation import START, parse_position
from merels.engine.search.evaluation import evaluate, explain
from tests.engine.random_games import random_positions

MAN_AHEAD = "**O*@**O/@O***O@*/**O*@OO* w 0 0 0 20"


def test_terms_add_up_to_the_evaluation() -> None:
    for position in random_positions(seed=7, number=200):
        white_ahead = sum(worth for _, worth in explain(position))
        total = white_ahead if position.side == 0 else -white_ahead
        assert abs(total - evaluate(position)) <= 10  # Each term is rounded.


def test_an_extra_man_raises_the_evaluation() -> None:
    behind = parse_position("**@*O**@/O@***@O*/**@*O@@* w 0 0 0 20")
    assert evaluate(parse_position(MAN_AHEAD)) > 50 > -50 > evaluate(behind)
    assert abs(evaluate(parse_position(START))) < 30


INTACT = Path(weights.PATH).read_bytes()
OVERFLOWING = b"\xff\x7f" * (core.WEIGHTS_SIZE // 2)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "not a weights file: it begins with '', not 'MERELSEW'"),
        (b"PK" + INTACT[2:], "not a weights file: it begins with 'PKRELSEW', not 'MERELSEW'"),
        (INTACT[:10], f"10 bytes instead of {len(INTACT)}: cut off or damaged"),
        (INTACT[:8] + b"\x01" + INTACT[9:], "format version 1; this program reads version 5"),
        (INTACT[:-1], f"{len(INTACT) - 1} bytes instead of {len(INTACT)}: cut off or damaged"),
        (INTACT[:5000] + bytes([INTACT[5000] ^ 1]) + INTACT[5001:],
         r"damaged data: CRC-32 [0-9a-f]{8} instead of [0-9a-f]{8}"),
        (weights.pack(bytes(100)), f"116 bytes instead of {len(INTACT)}: cut off or damaged"),
        (weights.pack(OVERFLOWING), "a weight of 32767 may overflow"),
    ],
    ids=("empty", "magic", "header", "version", "cut", "damaged", "size", "overflow"),
)
def test_weights_that_cannot_be_used_raise_an_input_error(
    own_weights: None, tmp_path: Path, data: bytes, expected: str
) -> None:
    path = tmp_path / "weights.bin"
    path.write_bytes(data)
    value = evaluate(parse_position(MAN_AHEAD))
    with pytest.raises(InputError, match=f"{expected}.*; reinstall merels"):
        weights.load(path)
    assert evaluate(parse_position(MAN_AHEAD)) == value


def test_missing_weights_raise_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read the weights: .*reinstall"):
        weights.load(tmp_path / "none.bin")


def test_before_weights_are_loaded_all_positions_are_equal() -> None:
    program = (
        "from merels.engine.core import core, convert\n"
        "from merels.engine.game.notation import START, parse_position\n"
        f"for position in map(parse_position, (START, {MAN_AHEAD!r})):\n"
        "    rules, board = convert.core_rules(position.rules), convert.core_board(position)\n"
        "    print(core.evaluate(rules, board))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n0\n", "")
