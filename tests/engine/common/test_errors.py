"""Input errors: the places that they name, and pickling."""

from __future__ import annotations

import pickle

from merels.engine.common.errors import InputError, PlacedError, SeveralErrors, placed


def test_places_are_listed_from_narrow_to_wide_without_empty_ones() -> None:
    error = InputError("x7", "expected a point")
    assert placed(error, "") is error
    inner = placed(error, "move 3")
    assert isinstance(inner, PlacedError) and inner.places == ("move 3",)
    assert placed(inner, "") is inner
    outer = placed(inner, "game 2")
    assert isinstance(outer, PlacedError) and outer.places == ("move 3", "game 2")
    assert (outer.token, outer.reason) == ("x7", "expected a point")


def test_errors_can_be_pickled() -> None:
    single = placed(placed(InputError("x7", "expected a point"), "move 3"), "game 2")
    several = SeveralErrors([single, InputError("b", "unknown"), single])
    for error in (single, several):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and str(again) == str(error)
    assert str(several) == f"{single}\n{InputError('b', 'unknown')}"
