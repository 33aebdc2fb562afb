"""The flags of ``merels tournament``, ``tune`` and ``league``, named as in fastchess and cutechess.

Each entry has a flag's help and keys, and the readers, defaults and settings fields of its values.
"""

from __future__ import annotations

from merels.engine.common.errors import InputError
from merels.engine.common.numbers import read_real, read_whole
from merels.engine.game.rules import DEFAULT_VARIANT
from merels.protocol.client.engine_spec import KEYS, OPTION
from merels.tournament.records.fields import (
    Field,
    Flag,
    Flags,
    choice,
    or_none,
    read_clock,
    read_seconds,
    read_switch,
    read_text,
    real,
    show,
    show_clock,
    show_nanoseconds,
    whole,
)
from merels.tournament.records.games import MILLISECOND, TABLE_RESULTS
from merels.tournament.records.output import LOG_LEVELS
from merels.tournament.records.settings import DEFAULT_EVENT, FORMATS, POLICIES
from merels.tournament.statistics.sprt import MAX_ELO, MODELS

MAX_RATING = 100_000
"""Largest absolute value of an anchor's rating."""
LIMITS = {
    "tc": Field(read_clock, path="limit", show=show_clock),
    "st": Field(read_seconds, path="limit.per_move", show=show_nanoseconds),
    "nodes": Field(whole(1, 10**15), path="limit.nodes"),
    "depth": Field(whole(1, 10**6), path="limit.depth"),
    "timemargin": Field(
        whole(0, 10**9, MILLISECOND), path="limit.margin",
        show=lambda margin: show(margin // MILLISECOND),
    ),
    "restart": Field(read_switch, path="restart"),
    "ponder": Field(read_switch, path="ponder"),
    "starttimeout": Field(real(0.01, 3600, "seconds"), path="start_timeout"),
    "pingtimeout": Field(real(0.01, 3600, "seconds"), path="ping_timeout"),
}
"""Keys of an engine's limits and conditions."""
PROGRAM = {
    "dir": Field(path="engine.directory"), "proto": Field(path="engine.protocol"),
    "cpu": Field(path="engine.resources.cpu"), "memory": Field(path="engine.resources.memory"),
    "core": Field(path="engine.resources.core"),
}
"""Keys of an engine's program, which `make_engine` reads."""
ENGINE = {**dict.fromkeys((*KEYS, OPTION, "plies"), Field()), **PROGRAM, **LIMITS}
"""Keys of ``-engine``; plies is another name of depth."""
SPRT = {
    "elo0": Field(real(-MAX_ELO, MAX_ELO), path="sprt.elo0"),
    "elo1": Field(real(-MAX_ELO, MAX_ELO), path="sprt.elo1"),
    "alpha": Field(real(0, 1), 0.05, "sprt.alpha"),
    "beta": Field(real(0, 1), 0.05, "sprt.beta"),
    "model": Field(choice(*MODELS), MODELS[0], "sprt.model"),
}
FILE = {"file": Field()}
PGN_STYLE = ("min", "nodes", "timeleft", "latency", "seldepth", "nps", "hashfull", "pv")
"""Keys of ``-pgnout`` that set the fields of `PgnStyle`, in their order."""
NO_WORDS = (0, 0)
"""Smallest and largest number of words after a flag that takes none."""


def read_anchor(text: str, where: str) -> tuple[str, float]:
    """Parse ``NAME=ELO``; return the engine's name and its rating."""
    name, equals, value = text.rpartition("=")
    if not equals:
        raise InputError(text, f"expected {where} NAME=ELO, such as A=1500")
    return name, read_real(value, -MAX_RATING, MAX_RATING, f"{where} NAME=ELO")


def read_shard(text: str, where: str) -> tuple[int, int]:
    """Parse ``i/n``."""
    part, slash, parts = text.partition("/")
    if not slash:
        raise InputError(text, f"expected {where} i/n, such as 1/4")
    count = read_whole(parts, 1, 10**6, f"n of {where} i/n")
    return read_whole(part, 1, count, f"i of {where} i/n"), count


GROUPS: dict[str, dict[str, Flag]] = {
    "Engines": {
        "-engine": Flag(
            "an engine; repeat the flag for each engine. cmd= is its program, args= its arguments "
            "as one word; or level= is a built-in level of merels",
            keys=ENGINE, repeats=True,
        ),
        "-each": Flag("defaults for all engines", keys=ENGINE),
    },
    "Tournament": {
        "-tournament": Flag(
            "roundrobin, gauntlet, swiss or knockout (roundrobin). In a Swiss tournament with an "
            "odd number of engines, one engine has a bye in each round and gets the points of a "
            "won pairing. In a knockout, engines are seeded in the order given; a drawn match is "
            "extended by up to 8 pairings, then the higher seed advances",
            Field(choice(*FORMATS, **{"round-robin": FORMATS[0]}), FORMATS[0], "format"),
        ),
        "-rounds": Flag(
            "how often each pairing is played (2; with -games or in a knockout 1; in a tournament "
            "without engines 5); in a Swiss tournament, the number of rounds (log2 of the number "
            "of engines, rounded up)",
            Field(whole(1, 10**6), path="rounds"),
        ),
        "-games": Flag(
            "games of a pairing in a round (2); each two games share an opening. A match of two "
            "engines takes 1 or an even number; with -report penta=false, any number",
            Field(whole(1, 10_000), 2, "games"),
        ),
        "-repeat": Flag(
            "play at least X games of a pairing in a round (2)", Field(whole(1, 10_000), 2),
            words=(0, 1),
        ),
        "-noswap": Flag(
            "do not swap colours, neither between the two games of an opening nor between rounds",
            Field(path="swap", show=lambda swap: show(not swap)), words=NO_WORDS,
        ),
        "-seeds": Flag(
            "gauntlet: the first X engines play all others (1)", Field(whole(1), 1, "seeds")
        ),
        "-srand": Flag(
            "seed of the openings and, in a tune, of the perturbations (random; the run prints it)",
            Field(whole(0, 2**63 - 1), path="seed"),
        ),
        "-variant": Flag(
            "the rule set: loc, mill, multi, morris or roman (mill)",
            Field(default=DEFAULT_VARIANT, path="rules", show=lambda rules: rules.split()[0]),
        ),
        "-set": Flag(
            "change a field of the rule set, such as Flying=never",
            Field(default=(), path="rules", show=lambda rules: rules.partition(" ")[2]),
            words=(1, 99), repeats=True,
        ),
        "-openings": Flag(
            "start positions. book: 500 positions that are proven draws under the rule set of "
            "-variant, whatever -set changes; or a file with format=pos|pgn. Both take "
            "order=sequential|random and start=N. policy=round|encounter (round): all pairings of "
            "a round share their openings, or each pairing takes the next ones. A PGN file gives "
            "the first plies=N moves of each record. Without plies= it gives all moves, unless a "
            "record of the file reaches the end of a game or of the placing phase; then it gives "
            "the first 8 moves of each record, and equal openings only once. Without a file: "
            "plies=N random placements, N at most 12 (by default 4 to 8, at random); plies=0 is "
            "the empty board",
            keys={
                "file": Field(default="", path="openings.file"),
                "format": Field(choice("pos", "pgn", epd="pos", fen="pos"), path="openings.format"),
                "order": Field(choice("sequential", "random"), "sequential", "openings.order"),
                "plies": Field(whole(0, 10_000), path="openings.plies"),
                "start": Field(whole(1), 1, "openings.start"),
                "policy": Field(choice(*POLICIES), POLICIES[0], "openings.policy"),
            }, first_key="file",
        ),
        "-event": Flag(
            "name of the event, for PGN and reports", Field(default=DEFAULT_EVENT, path="event")
        ),
    },
    "Adjudication": {
        "-draw": Flag(
            "adjudicate a draw when both engines' scores are within score= (0; hundredths of a "
            "man) of 0 for movecount= (1) moves in a row without a removal, from move movenumber= "
            "(0) on",
            keys={
                "movenumber": Field(whole(), 0, "adjudication.draw_number"),
                "movecount": Field(whole(1), 1, "adjudication.draw_count"),
                "score": Field(whole(), 0, "adjudication.draw_score"),
            },
        ),
        "-resign": Flag(
            "adjudicate a loss when an engine's score is minus score= (hundredths of a man) or "
            "less for movecount= (1) moves in a row, from move movenumber= (0) on; twosided: only "
            "if the opponent's scores agree",
            keys={
                "movenumber": Field(whole(), 0, "adjudication.resign_number"),
                "movecount": Field(whole(1), 1, "adjudication.resign_count"),
                "score": Field(whole(), 0, "adjudication.resign_score"),
                "twosided": Field(read_switch, False, "adjudication.resign_twosided"),
            }, required=("score",),
        ),
        "-maxmoves": Flag(
            "adjudicate a draw after X moves of each side, those of the opening included (0: no "
            "limit)",
            Field(whole(), 0, "adjudication.max_moves"),
        ),
        "-tb": Flag(
            "adjudicate by the tables of perfect play in this folder",
            Field(default="", path="adjudication.tables"),
        ),
        "-tbadjudicate": Flag(
            "which results -tb adjudicates: BOTH, WIN_LOSS or DRAW (BOTH)",
            Field(choice(*TABLE_RESULTS), TABLE_RESULTS[0], "adjudication.table_results"),
        ),
    },
    "Statistics": {
        "-sprt": Flag(
            "stop when this SPRT is decided, at the latest after -rounds (100000). elo0= and elo1= "
            "are the hypotheses; alpha= and beta= (0.05), "
            "model=normalized|logistic|bayesian (normalized)",
            keys=SPRT, required=("elo0", "elo1"),
        ),
        "-report": Flag("penta=false: base estimates on single games, not on pairs",
                        keys={"penta": Field(read_switch, True, "penta")}),
        "-ratinginterval": Flag(
            "print estimates every X games (10; with more than two engines only at the end)",
            Field(whole()),
        ),
        "-scoreinterval": Flag("print the score every X games (1)", Field(whole(), 1)),
    },
    "Running": {
        "-concurrency": Flag(
            "games in parallel (1; a tournament without engines up to 4), at most the processors "
            "that merels may use; with -executor, pairs of games at once. Each worker keeps "
            "up to 16 engines of earlier games running",
            Field(whole(1)),
        ),
        "-force-concurrency": Flag(
            "allow a greater -concurrency; engines then share processors and may lose on time",
            words=NO_WORDS,
        ),
        "-wait": Flag("pause X milliseconds between two games of a worker (0)", Field(whole(), 0)),
        "-use-affinity": Flag(
            "pin each worker and its engines to a processor, or to two if an engine ponders. X is "
            "a list of processors, such as 0,2-5; without it, the second hyperthread of a core is "
            "used last",
            Field(default=""), words=(0, 1),
        ),
        "-maxfaults": Flag(
            "end the run when an engine has lost X games of this run by a crash, stall, time "
            "forfeit or illegal move (0: no limit)",
            Field(whole(), 0),
        ),
        "-journal": Flag(
            "store every finished game in this file", keys=FILE, first_key="file",
            required=("file",),
        ),
        "-resume": Flag(
            "continue the journal, or start it if it does not exist. If no engines are given, the "
            "run continues in its folder with the command line stored in the journal, including "
            "-executor and -serve; flags given now override stored ones, and -executor none and "
            "-serve none turn these off. If engines are given, they and the settings must be those "
            "of the journal, but a program may have moved, and in a round robin or gauntlet "
            "-rounds may grow. Until an engine has played, its cmd=, args=, dir= and proto= may be "
            "corrected", words=NO_WORDS,
        ),
        "-config": Flag(
            "read flags from a text file, as if given here", keys=FILE, first_key="file"
        ),
        "-executor": Flag(
            "run on the concurrent.futures.Executor that module:factory returns; none: on this "
            "machine, even if the journal of -resume names an executor",
            Field(or_none(read_text)),
        ),
        "-executorwait": Flag(
            "end the run after X seconds without a result from -executor (3600, more with a slow "
            "clock; 0: no limit). A pair of games must take less time",
            Field(whole()),
        ),
        "-shard": Flag(
            "i/n: play only the i-th of n parts (see merels merge)", Field(read_shard, (1, 1))
        ),
    },
    "Output": {
        "-pgnout": Flag(
            "write games as PGN. file=- is standard output; all other output then goes to standard "
            "error. append=false replaces the file (not with -resume), min=true leaves move "
            "comments out. timeleft=, latency=, nodes=, seldepth=, nps=, hashfull= and pv= with "
            "true extend the comments. latency= is the measured time minus the engine's own. With "
            "any of these but timeleft= and nodes=, the journal also stores the engines' last info "
            "lines",
            keys={
                **FILE, "append": Field(read_switch, True),
                **dict.fromkeys(PGN_STYLE, Field(read_switch, False)),
            }, first_key="file", required=("file",),
        ),
        "-log": Flag(
            "log to a file, each line with the time of its event and its game or process; "
            "level=trace|info|warn|err|fatal (warn), engine=true adds the engines' lines (> sent, "
            "< received, ! standard error), append=false replaces the "
            "file (not with -resume)",
            keys={
                **FILE, "level": Field(choice(*LOG_LEVELS), "warn"),
                "engine": Field(read_switch, False), "append": Field(read_switch, True),
            }, first_key="file", required=("file",),
        ),
        "-serve": Flag(
            "broadcast games and standings on a web page at this local port (0: any free port); "
            "none: no page",
            Field(or_none(whole(0, 65535))),
        ),
        "-quiet": Flag("print only notices and the final report", words=NO_WORDS),
    },
}
_KEYS_WITHOUT_EFFECT = ("restart=auto", "stderr=", "trust")
IGNORED = {
    **dict.fromkeys(
        ("-autosaveinterval", "-bookmode", "-crc32", "-debug", "-epdout", "-outcomeinterval",
         "-output", "-ping-ms", "-recover", "-replays", "-resultformat", "-reverse",
         "-show-latency", "-site", "-startup-ms", "-tbignore50", "-tbpieces", "-testEnv"), ()
    ),
    "-config": ("discard=", "outname=", "stats="),
    "-each": _KEYS_WITHOUT_EFFECT, "-engine": _KEYS_WITHOUT_EFFECT,
    "-log": ("compress=", "realtime="),
    "-openings": ("policy=default",),
    "-pgnout": ("fi", "match_line=", "notation=", "tbhits="),
}  # fmt: skip
"""Flags of other runners, and words or keys of flags, that are accepted without effect."""

FLAGS = {name: flag for group in GROUPS.values() for name, flag in group.items()}
"""The flags of ``merels tournament``."""

TUNE_OWN = {
    "-engine": Flag(
        "the engine to tune, with keys as in merels tournament: cmd= is its program; tc=, st=, "
        "nodes= or depth= is its limit", keys=ENGINE, repeats=True,
    ),
    "-param": Flag(
        "a spin option to tune; repeat the flag for each option. start= (its option.NAME=, or the "
        "engine's default), min= and max= (the engine's bounds); c_end= is the perturbation at the "
        "end (a twentieth of the range from min= to max=), best chosen to be worth a few Elo",
        keys={"name": Field(), **{
            key: Field(path=path) for key, path in (  # Fields of `Parameter`.
                ("start", "start"), ("min", "minimum"), ("max", "maximum"), ("c_end", "c_end"),
            )
        }}, first_key="name", repeats=True,
    ),
    "-pairs": Flag(
        "game pairs to play (10000); up to a 50th of them at once",
        Field(whole(1, 10**6), 10_000, "rounds"),
    ),
    "-spsa": Flag(
        "schedule of the steps. r_end= is the step after a won game at the end, in units of c_end "
        "(60 / pairs, at most 0.5). Earlier steps depend on A= (0.1; as a share of the pairs), "
        "alpha= (0.602) and gamma= (0.101)",
        keys={
            "r_end": Field(real(1e-9, 10), path="tuning.schedule.r_end"),
            "A": Field(real(0, 10), 0.1, "tuning.schedule.stability"),
            "alpha": Field(real(0, 2), 0.602, "tuning.schedule.alpha"),
            "gamma": Field(real(0, 1), 0.101, "tuning.schedule.gamma"),
        },
    ),
    "-sprt": Flag(
        "after the tune, test the tuned values against the start values; elo0= (0), elo1= (5), "
        "other keys as in merels tournament. The journal of the test has the name of the tune's "
        "with .sprt; -pgnout, -log and -serve do not cover the test", keys=SPRT,
    ),
    "-out": Flag(
        "write an HTML report with a plot of each parameter to this file at the end",
        Field(default=""),
    ),
    "-interval": Flag(
        "print the values every X pairs (a hundredth of the pairs)", Field(whole(1))
    ),
}
TUNE_SHARED = (
    "-each", "-srand", "-variant", "-set", "-openings", "-draw", "-resign", "-maxmoves", "-tb",
    "-tbadjudicate", "-concurrency", "-force-concurrency", "-wait", "-use-affinity",
    "-journal", "-resume", "-config", "-maxfaults", "-executor", "-executorwait", "-pgnout",
    "-log", "-serve", "-quiet",
)
TUNE_FLAGS: Flags = {**TUNE_OWN, **{name: FLAGS[name] for name in TUNE_SHARED}}
"""The flags of ``merels tune``."""

_ERROR = Field(real(0.1, 1000, "Elo"))
CREATE_OWN: Flags = {
    "-error": Flag("goal for the error of each active player's rating, in Elo (25)", _ERROR),
    "-floor": Flag(
        "minimum number of games between any two active players (2)", Field(whole(0, 1000))
    ),
    "-anchor": Flag(
        "NAME=ELO: a player whose rating is known; the mean of all anchors fixes the scale. "
        "Without this flag, the built-in levels in the league are the anchors",
        Field(read_anchor, ()), words=(1, 99), repeats=True,
    ),
}
CREATE_SHARED = (
    "-each", "-variant", "-set", "-openings", "-draw", "-resign", "-maxmoves", "-tb",
    "-tbadjudicate", "-event", "-srand", "-config",
)
ADD_FLAGS: Flags = {
    "-engine": FLAGS["-engine"],
    "-family": Flag(
        "a name shared by all versions of an engine, which a table of the site compares. All "
        "players of the command get this family; the action family corrects it",
        Field(default=""),
    ),
}
PLAY_OWN: Flags = {
    "-error": Flag("goal for the errors in this run, in Elo (that of the league)", _ERROR),
    "-games": Flag("end after X games, rounded up to a whole pair", Field(whole(1))),
    "-hours": Flag("start no pair after X hours", Field(real(0, 10_000))),
    "-shard": Flag(
        "i/n: play only the i-th of every n pairs. Play the other parts in copies of the folder, "
        "for example on other machines, then join the parts with merge", Field(read_shard, (1, 1)),
    ),
}
PLAY_SHARED = (
    "-concurrency", "-force-concurrency", "-use-affinity", "-maxfaults", "-executor",
    "-executorwait", "-log", "-serve", "-quiet", "-wait",
)
CREATE_FLAGS: Flags = {**CREATE_OWN, **{name: FLAGS[name] for name in CREATE_SHARED}}
PLAY_FLAGS: Flags = {**PLAY_OWN, **{name: FLAGS[name] for name in PLAY_SHARED}}
"""The flags of the actions of ``merels league``."""
