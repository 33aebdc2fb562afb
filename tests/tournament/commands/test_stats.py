"""``merels stats``: its values as JSON, its errors and its help."""

from __future__ import annotations

import json
import math

import pytest

from tests.commands import command

main = command("stats")
KEYS = ["elo", "elo_error", "nelo", "nelo_error", "los", "too_few", "llr", "lower", "upper"]


def answer(capsys: pytest.CaptureFixture[str], *argv: str) -> dict[str, float | None]:
    """Return the values that the command prints as JSON."""
    assert main(list(argv)) == 0
    out, err = capsys.readouterr()
    assert err == "" and "NaN" not in out and "Infinity" not in out
    values: dict[str, float | None] = json.loads(out)
    return values


def test_wins_losses_and_draws_give_known_estimates(capsys: pytest.CaptureFixture[str]) -> None:
    data = answer(capsys, "-wld", "136,96,111")
    assert list(data) == KEYS
    assert [data[key] for key in KEYS[:5]] == pytest.approx(
        [40.702458, 30.427218, 49.768415, 36.768451, 99.601024], abs=1e-6
    )
    assert data["llr"] is data["lower"] is data["upper"] is None


def test_pairs_and_an_sprt_give_a_known_ratio(capsys: pytest.CaptureFixture[str]) -> None:
    data = answer(capsys, "-ptnml", "365,16618,36229,16974,390", "-sprt", "0,2")
    assert data["llr"] == pytest.approx(2.250368, abs=1e-3)
    lower, upper = data["lower"], data["upper"]
    assert lower is not None and upper == -lower == pytest.approx(math.log(19))


def test_alpha_and_beta_set_the_bounds_and_a_hypothesis_may_be_negative(
    capsys: pytest.CaptureFixture[str]
) -> None:
    counts = ("-wld", "10871,10650,20431", "-sprt", "-1.75,0.25")
    data = answer(capsys, *counts, "-model", "normalized", "-alpha", "0.05", "-beta", "0.1")
    assert data["llr"] == pytest.approx(2.297500, abs=1e-3)
    assert data["lower"] == pytest.approx(math.log(0.1 / 0.95))
    assert data["upper"] == pytest.approx(math.log(0.9 / 0.05))


@pytest.mark.parametrize(
    "argv", [("-sprt=-3,1", "-wld=1,2,3"), ("--wld", "1,2,3", "--sprt", "-3,1")]
)
def test_flags_may_have_an_equals_sign_or_two_dashes(
    capsys: pytest.CaptureFixture[str], argv: tuple[str, ...]
) -> None:
    assert answer(capsys, *argv) == answer(capsys, "-wld", "1,2,3", "-sprt", "-3,1")


@pytest.mark.parametrize("words", [
    ("-sprt", "elo0=0,elo1=50"), ("-sprt", "elo0=0", "elo1=50"),
    ("-sprt", "elo1=50", "model=normalized", "elo0=0", "-alpha", "0.05"),
    ("-sprt=elo0=0", "elo1=50"),
])
def test_an_sprt_is_read_as_in_a_tournament(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    counts = ("-wld", "35,6,5")
    assert answer(capsys, *counts, *words) == answer(capsys, *counts, "-sprt", "0,50")


def test_zero_has_no_minus_sign(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-wld", "1,1,0", "-sprt", "-5,5"]) == 0
    assert "-0.0" not in capsys.readouterr().out


def test_infinite_values_are_null(capsys: pytest.CaptureFixture[str]) -> None:
    only_wins = answer(capsys, "-wld", "10,0,0")
    assert only_wins["elo"] is only_wins["elo_error"] is only_wins["nelo"] is None
    no_games = answer(capsys, "-wld", "0,0,0", "-sprt", "0,5")
    assert (no_games["elo"], no_games["elo_error"], no_games["llr"]) == (0, None, 0)


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_explains_los_and_the_bayesian_model(
    capsys: pytest.CaptureFixture[str], flag: str
) -> None:
    assert main([flag]) == 0
    text = capsys.readouterr().out
    assert "superiority, in percent" in text and "bayesian is that of fastchess" in text
