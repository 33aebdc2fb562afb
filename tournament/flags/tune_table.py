"""The flags of ``merels tune``; most are shared with ``merels tournament``."""

from __future__ import annotations

import textwrap

from merels.tournament.flags.table import ENGINE_KEYS, FLAGS, ONE, WIDTH, Flag, Flags, flag_lines

OWN: Flags = {
    "-engine": Flag(
        "the engine to tune, as in merels tournament: cmd= its program, tc=, st=, nodes= or depth= "
        "what it may use for a move", ENGINE_KEYS, repeats=True,
    ),
    "-param": Flag(
        "a spin option to tune; once for each. start=, min= and max= as the engine declares them; "
        "c_end= is how far it is perturbed at the end, best worth a few Elo (a twentieth of the "
        "range from min to max)",
        ("name", "start", "min", "max", "c_end"), plain="name", repeats=True,
    ),
    "-pairs": Flag("game pairs to play (10000); up to a 50th of them at once", words=ONE),
    "-spsa": Flag(
        "r_end= is how many c_end a game won moves a value at the end (60 / pairs); A= (0.1; of "
        "the pairs), alpha= (0.602) and gamma= (0.101) shape the way there",
        ("r_end", "A", "alpha", "gamma"),
    ),
    "-sprt": Flag(
        "then test the tuned values against those at the start; elo0= (0), elo1= (5) and the "
        "rest as in merels tournament. Its games are kept in the journal's name with .sprt",
        ("elo0", "elo1", "alpha", "beta", "model"),
    ),
    "-out": Flag("write a report with a plot of each parameter, as HTML, at the end", words=ONE),
    "-interval": Flag("print the values every X pairs (a hundredth of them)", words=ONE),
}
SHARED = (
    "-each", "-srand", "-variant", "-set", "-openings", "-draw", "-resign", "-maxmoves", "-tb",
    "-tbadjudicate", "-replays", "-concurrency", "-force-concurrency", "-wait", "-use-affinity",
    "-journal", "-resume", "-config", "-maxfaults", "-executor", "-executorwait", "-pgnout",
    "-epdout", "-log", "-serve", "-quiet",
)
TUNE_FLAGS: Flags = {**OWN, **{name: FLAGS[name] for name in SHARED}}

INTRODUCTION = """\
merels tune [flags]

Tunes an engine's spin options by SPSA: in game pairs the engine plays itself, all parameters
perturbed at random, and each moves towards the side that wins. For example:

  merels tune -engine cmd=./engine tc=1+0.01 -param Futility min=20 max=120 -param Window \\
      -pairs 20000 -concurrency 2 -openings book -journal tune.db -out tune.html -sprt
"""
ENDING = """\
At the end it prints each tuned value with its standard error: how far from the best value it is
likely to be. "-" means that the results show no best value; play more pairs, or choose a greater
c_end=. -journal F -resume continues a run, however it was stopped, to the same end."""


def tune_help() -> str:
    """The whole text of ``merels tune --help``."""
    shared = textwrap.wrap(
        f"As in merels tournament: {', '.join(SHARED)}.", WIDTH, break_on_hyphens=False
    )
    return "\n".join([INTRODUCTION, *flag_lines(OWN), "", *shared, "", ENDING])
