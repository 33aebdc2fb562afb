"""``merels stats``: Elo, errors, LOS and SPRT of a match's counts, as one JSON object."""

from __future__ import annotations

import argparse
import json
import math

from merels.engine.common.errors import InputError
from merels.engine.common.numbers import read_whole
from merels.protocol.commands.arguments import Parser, add_flag, make_parser
from merels.protocol.commands.exit_status import OK
from merels.tournament.flags.make_settings import make_sprt
from merels.tournament.records.table import SPRT
from merels.tournament.statistics.elo import from_cells
from merels.tournament.statistics.sprt import MODELS, Sprt

DESCRIPTION = """\
Computes statistics from the counts of a match. Prints one JSON object with the keys
  elo, elo_error        Elo difference and half its 95 % interval
  nelo, nelo_error      normalized Elo and half its 95 % interval
  los                   likelihood of superiority, in percent
  too_few               whether there are fewer than 20 games, too few for reliable errors
  llr, lower, upper     log-likelihood ratio of the SPRT and its bounds; null without -sprt
An infinite value, such as the Elo difference after only wins, is null: JSON has no infinity.

If fewer than 25 results differ from the most frequent result, the errors and LOS include a prior: a
pair of two decisive games between equals, with a weight that falls to 0 at 25.

Model bayesian is that of fastchess: BayesElo, with the draw rate of the counts. The ratios of other
programs with this model may differ in the fourth digit."""

MAX_COUNT = 10**15
VALUE_OPTIONS = ("wld", "ptnml", "sprt", "model", "alpha", "beta")
"""Options that take a value."""


def main(argv: list[str]) -> int:
    """Run ``merels stats``; return the exit status."""
    options = _parser().parse_args(_joined(argv))
    cells, sprt = _cells(options), _sprt(options)
    try:
        llr = None if sprt is None else sprt.llr(cells)
    except ValueError as error:
        raise InputError("-sprt", str(error)) from None
    estimate = from_cells(cells)
    keys = ("elo", "elo_error", "nelo", "nelo_error", "los", "too_few")
    answer = {
        **{key: getattr(estimate, key) for key in keys},
        "llr": llr,
        "lower": None if sprt is None else sprt.lower,
        "upper": None if sprt is None else sprt.upper,
    }
    finite = {
        key: value if value is not None and math.isfinite(value) else None
        for key, value in answer.items()
    }
    print(json.dumps(finite, allow_nan=False))
    return OK


def _parser() -> Parser:
    parser = make_parser("stats", DESCRIPTION)
    counts = parser.add_mutually_exclusive_group(required=True)
    add_flag(counts, "wld", metavar="W,L,D", help="games won, lost and drawn")
    add_flag(
        counts, "ptnml", metavar="a,b,c,d,e",
        help="opening pairs by result: LL, LD, DD or WL, WD, WW",
    )
    add_flag(
        parser, "sprt", metavar="elo0,elo1",
        help="the two hypotheses of an SPRT; or elo0=N elo1=N, as in merels tournament",
    )
    add_flag(
        parser, "model", metavar="M",
        help=f"unit of elo0 and elo1: {', '.join(MODELS)} (default: {MODELS[0]})",
    )
    add_flag(parser, "alpha", metavar="A", help="chance of accepting elo1 wrongly (default: 0.05)")
    add_flag(parser, "beta", metavar="B", help="chance of accepting elo0 wrongly (default: 0.05)")
    return parser


def _joined(argv: list[str]) -> list[str]:
    """Return the arguments with each option's values joined to it by ``=`` and spaces.

    Otherwise argparse would take the value in ``-sprt -3,1`` for an option.
    """
    joined: list[str] = []
    is_value = False
    for argument in argv:
        if joined and joined[-1].lstrip("-") in VALUE_OPTIONS:
            joined[-1] += "=" + argument
            is_value = True
        elif is_value and not argument.startswith("-"):
            joined[-1] += " " + argument
        else:
            joined.append(argument)
            is_value = argument.lstrip("-").partition("=")[0] in VALUE_OPTIONS
    return joined


def _cells(options: argparse.Namespace) -> tuple[int, ...]:
    """Return the counts in the order of rising score."""
    if options.wld is not None:
        wins, losses, draws = _counts("-wld", options.wld, "W,L,D")
        return losses, draws, wins
    return _counts("-ptnml", options.ptnml, "a,b,c,d,e")


def _counts(option: str, text: str, form: str) -> tuple[int, ...]:
    """Parse the comma-separated whole numbers of an option; ``form`` names them, as ``W,L,D``."""
    words = text.split(",")
    if len(words) != form.count(",") + 1:
        raise InputError(text, f"expected whole numbers separated by commas, {form}, for {option}")
    return tuple(read_whole(word.strip(), 0, MAX_COUNT, option) for word in words)


def _sprt(options: argparse.Namespace) -> Sprt | None:
    """Return the SPRT of the flags, or None without -sprt."""
    values = {name: getattr(options, name) for name in ("alpha", "beta", "model")}
    chosen = {name: text for name, text in values.items() if text is not None}
    if options.sprt is None:
        if chosen:
            raise InputError(f"-{next(iter(chosen))}", "belongs to an SPRT; add -sprt elo0,elo1")
        return None
    words = options.sprt.replace(",", " ").split()
    if "=" in options.sprt:
        # As in merels tournament: elo0=0 elo1=5 alpha=0.05
        for word in words:
            name, equals, value = word.partition("=")
            if not equals or name not in ("elo0", "elo1", *values) or name in chosen:
                names = ", ".join(f"{name}=" for name in ("elo0", "elo1", *values))
                raise InputError(word, f"expected each of {names} at most once for -sprt")
            chosen[name] = value
        words = [chosen.pop(name, "") for name in ("elo0", "elo1")]
    if len(words) != 2 or not all(words):
        raise InputError(options.sprt, "expected elo0,elo1 or elo0=N elo1=N for -sprt")
    chosen |= dict(zip(("elo0", "elo1"), words))
    return make_sprt({
        key: SPRT[key].read(text, f"{key} of -sprt" if "elo" in key else f"-{key}")
        for key, text in chosen.items()
    })
