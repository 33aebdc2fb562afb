"""The flags of ``merels tune``; most are shared with ``merels tournament``."""

from __future__ import annotations

import textwrap

from merels.tournament.flags.table import ENGINE_KEYS, FLAGS, WIDTH, Flag, Flags, flag_lines

TUNE_OWN: Flags = {
    "-engine": Flag(
        "the engine to tune, with keys as in merels tournament: cmd= is its program; tc=, st=, "
        "nodes= or depth= is its limit", ENGINE_KEYS, repeats=True,
    ),
    "-param": Flag(
        "a spin option to tune; repeat the flag for each option. start= (its option.NAME=, or the "
        "engine's default), min= and max= (the engine's bounds); c_end= is the perturbation at the "
        "end (a twentieth of the range from min= to max=), best chosen to be worth a few Elo",
        ("name", "start", "min", "max", "c_end"), first_key="name", repeats=True,
    ),
    "-pairs": Flag("game pairs to play (10000); up to a 50th of them at once"),
    "-spsa": Flag(
        "schedule of the steps. r_end= is the step after a won game at the end, in units of c_end "
        "(60 / pairs, at most 0.5). Earlier steps depend on A= (0.1; as a share of the pairs), "
        "alpha= (0.602) and gamma= (0.101)",
        ("r_end", "A", "alpha", "gamma"),
    ),
    "-sprt": Flag(
        "after the tune, test the tuned values against the start values; elo0= (0), elo1= (5), "
        "other keys as in merels tournament. The journal of the test has the name of the tune's "
        "with .sprt; -pgnout, -log and -serve do not cover the test",
        ("elo0", "elo1", "alpha", "beta", "model"),
    ),
    "-out": Flag("write an HTML report with a plot of each parameter to this file at the end"),
    "-interval": Flag("print the values every X pairs (a hundredth of the pairs)"),
}
TUNE_SHARED = (
    "-each", "-srand", "-variant", "-set", "-openings", "-draw", "-resign", "-maxmoves", "-tb",
    "-tbadjudicate", "-concurrency", "-force-concurrency", "-wait", "-use-affinity",
    "-journal", "-resume", "-config", "-maxfaults", "-executor", "-executorwait", "-pgnout",
    "-log", "-serve", "-quiet",
)
TUNE_FLAGS: Flags = {**TUNE_OWN, **{name: FLAGS[name] for name in TUNE_SHARED}}

INTRODUCTION = """\
merels tune [flags]

Tunes an engine's spin options by SPSA. The engine plays game pairs against itself with randomly
perturbed values, and each value moves towards those of the winning side. For example:

  merels tune -engine cmd=./engine tc=1+0.01 -param Futility min=20 max=120 -param Window \\
      -pairs 20000 -concurrency 2 -openings book -journal tune.db -out tune.html -sprt
"""
EPILOGUE = """\
At the end, merels tune prints each tuned value with its standard error, the likely distance from
the best value. "-" means that the results show no best value; play more pairs, or choose a greater
c_end=. -journal F -resume continues an interrupted run, with the same final values."""


def tune_help() -> str:
    """Return the text of ``merels tune --help``."""
    shared = textwrap.wrap(
        f"As in merels tournament: {', '.join(TUNE_SHARED)}.", WIDTH, break_on_hyphens=False
    )
    return "\n".join([INTRODUCTION, *flag_lines(TUNE_OWN), "", *shared, "", EPILOGUE])
