"""Errors of input: the places that they name, and what survives a pickle."""

from __future__ import annotations

import pickle

from merels.engine.common.errors import InputError, PlacedError, SeveralErrors, placed


def test_places_are_added_from_the_inside_and_an_empty_one_adds_nothing() -> None:
    error = InputError("x7", "expected a point")
    assert placed(error, "") is error
    inner = placed(error, "move 3")
    assert isinstance(inner, PlacedError) and inner.places == ("move 3",)
    assert placed(inner, "") is inner
    outer = placed(inner, "game 2")
    assert isinstance(outer, PlacedError) and outer.places == ("move 3", "game 2")
    assert (outer.token, outer.reason) == ("x7", "expected a point")


def test_errors_come_whole_out_of_another_process() -> None:
    one = placed(placed(InputError("x7", "expected a point"), "move 3"), "game 2")
    both = SeveralErrors([one, InputError("b", "unknown"), one])
    for error in (one, both):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and str(again) == str(error)
    assert str(both) == f"{one}\n{InputError('b', 'unknown')}"
