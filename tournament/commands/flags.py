"""The command line of ``merels tournament``: flags as other runners know them, read and checked."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from merels.engine.game.errors import InputError
from merels.engine.game.numbers import read_real, read_whole
from merels.protocol.client.engine_spec import KEYS, OPTION
from merels.tournament.records.files import file_error, read_text
from merels.tournament.statistics.sprt import MAX_ELO, MODELS, Sprt

SWITCHES = ("ponder", "twosided")
"""Keys that mean true without a value, as in other runners."""


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag: the keys of its ``key=value`` words, or how many plain words it takes.

    ``plain``: the key that a first word without ``=`` is the value of.
    """

    help: str
    keys: tuple[str, ...] = ()
    plain: str = ""
    words: tuple[int, int] = (0, 0)
    """The least and the greatest number of words, for a flag without keys."""
    repeats: bool = False
    """Whether the flag may be repeated and then adds to itself."""


ENGINE_KEYS = (
    *KEYS, OPTION, "restart", "ponder", "tc", "st", "nodes", "depth", "plies", "timemargin",
    "starttimeout", "pingtimeout",
)

ONE = (1, 1)
GROUPS: dict[str, dict[str, Flag]] = {
    "Engines": {
        "-engine": Flag(
            "an engine; once for each. cmd= is its program, args= its arguments as one word",
            ENGINE_KEYS, repeats=True,
        ),
        "-each": Flag("defaults for all engines", ENGINE_KEYS),
    },
    "Tournament": {
        "-tournament": Flag("roundrobin, gauntlet, swiss or knockout", words=ONE),
        "-rounds": Flag(
            "how often each pairing is played (2); of a swiss, the number of rounds", words=ONE
        ),
        "-games": Flag("games of a pairing in a round (2); each two share an opening", words=ONE),
        "-repeat": Flag("at least 2, or at least X, games of a pairing in a round", words=(0, 1)),
        "-noswap": Flag("do not swap colours between the two games of an opening"),
        "-reverse": Flag("swap the colours of all games"),
        "-seeds": Flag("gauntlet: the first X engines play the rest (1)", words=ONE),
        "-srand": Flag("the seed of openings and pairings (random; it is printed)", words=ONE),
        "-variant": Flag("the rule set: loc, mill, multi, morris or roman (mill)", words=ONE),
        "-set": Flag(
            "a rule field to change in it, such as Flying=never", words=(1, 99), repeats=True
        ),
        "-openings": Flag(
            "where games start: book, 500 positions that are proven drawn; or a file with "
            "format=pos|pgn; both with order=sequential|random and start=N. Without a file, "
            "plies=N random placements",
            ("file", "format", "order", "plies", "start"), plain="file",
        ),
        "-event": Flag("the event's name", words=ONE),
        "-site": Flag("the site's name", words=ONE),
    },
    "Adjudication": {
        "-draw": Flag(
            "adjudicate a draw when both scores are within score (0; hundredths of a man) of 0 for "
            "movecount (1) moves in a row, from movenumber (0) on",
            ("movenumber", "movecount", "score"),
        ),
        "-resign": Flag(
            "adjudicate a loss when an engine's score is at most -score (hundredths of a man) for "
            "movecount (1) moves in a row, from movenumber (0) on; twosided: if the other agrees",
            ("movenumber", "movecount", "score", "twosided"),
        ),
        "-maxmoves": Flag("adjudicate a draw after X moves", words=ONE),
        "-tb": Flag("adjudicate with the tables of perfect play in this folder", words=ONE),
    },
    "Statistics": {
        "-sprt": Flag(
            "stop when this sequential test is decided; alpha and beta (0.05), "
            "model=normalized|logistic|bayesian (normalized)",
            ("elo0", "elo1", "alpha", "beta", "model"),
        ),
        "-report": Flag("penta=false: base estimates on games, not on game pairs", ("penta",)),
        "-ratinginterval": Flag(
            "print estimates every X games (10; with more than two engines only at the end)",
            words=ONE,
        ),
        "-scoreinterval": Flag("print the score every X games (1)", words=ONE),
    },
    "Running": {
        "-concurrency": Flag("games in parallel (1)", words=ONE),
        "-use-affinity": Flag(
            "pin each worker and its engines to a core, optionally of a list such as 0,2-5",
            words=(0, 1),
        ),
        "-recover": Flag("accepted for compatibility: a failing engine never ends a tournament"),
        "-journal": Flag("keep every finished game in this file", ("file",), plain="file"),
        "-resume": Flag(
            "continue the journal, or start it; engines and settings may be left out"
        ),
        "-config": Flag(
            "read flags from a text file, as if given here", ("file",), plain="file"
        ),
        "-executor": Flag(
            "run on the concurrent.futures.Executor that module:factory returns", words=ONE
        ),
        "-shard": Flag("i/n: play the i-th of n parts (see merels merge)", words=ONE),
    },
    "Output": {
        "-pgnout": Flag(
            "write games as PGN; append=false replaces the file, min=true leaves move comments "
            "out, nodes=true and timeleft=true add to them",
            ("file", "append", "min", "nodes", "timeleft"), plain="file",
        ),
        "-log": Flag(
            "log to a file; level=trace|info|warn|err|fatal (warn), engine=true adds the engines' "
            "lines, append=false replaces the file",
            ("file", "level", "engine", "append"), plain="file",
        ),
        "-serve": Flag("show the tournament on a web page at this local port", words=ONE),
        "-quiet": Flag("print only the final report"),
    },
}
FLAGS = {name: flag for group in GROUPS.values() for name, flag in group.items()}


@dataclass(slots=True)
class Given:
    """The flags of a command line: each one's words or ``key=value`` pairs."""

    words: dict[str, list[str]] = field(default_factory=dict)
    pairs: dict[str, dict[str, str]] = field(default_factory=dict)
    engines: list[dict[str, str]] = field(default_factory=list)
    line: list[str] = field(default_factory=list)
    """The command line, each ``-config`` replaced by its file's flags."""
    configs: list[str] = field(default_factory=list)
    """The files of ``-config``."""

    def has(self, flag: str) -> bool:
        """Whether the flag was given."""
        return flag in self.words or flag in self.pairs

    def text(self, flag: str, default: str) -> str:
        """The one word of a flag."""
        return self.words[flag][0] if self.words.get(flag) else default

    def number(self, flag: str, default: int, low: int = 0, high: int = 10**9) -> int:
        """The one word of a flag as a whole number."""
        words = self.words.get(flag)
        return read_whole(words[0], low, high, flag) if words else default

    def key(self, flag: str, key: str, default: str) -> str:
        """The value of a key of a flag."""
        return self.pairs.get(flag, {}).get(key, default)

    def key_number(self, flag: str, key: str, default: int, low: int = 0, high: int = 10**9) -> int:
        """The value of a key of a flag as a whole number."""
        text = self.pairs.get(flag, {}).get(key)
        return default if text is None else read_whole(text, low, high, f"{flag} {key}=")

    def key_switch(self, flag: str, key: str, default: bool) -> bool:
        """The value of a key of a flag as yes or no."""
        text = self.pairs.get(flag, {}).get(key)
        return default if text is None else switch(text, f"{flag} {key}=")


def switch(text: str, what: str) -> bool:
    """True or false, in the words that people use."""
    values = {"true": True, "on": True, "yes": True, "1": True,
              "false": False, "off": False, "no": False, "0": False}
    if text.lower() not in values:
        raise InputError(text, f"expected true or false for {what}")
    return values[text.lower()]


def choice(text: str, what: str, choices: Sequence[str]) -> str:
    """One of some words."""
    if text.lower() in choices:
        return text.lower()
    raise InputError(text, f"expected {', '.join(choices)} for {what}{suggestion(text, choices)}")


def read_sprt(
    elo0: str, elo1: str, alpha: str = "0.05", beta: str = "0.05", model: str = MODELS[0]
) -> Sprt:
    """The test that the texts of ``-sprt`` describe."""
    chosen = choice(model, "the model of -sprt", MODELS)
    numbers = (
        read_real(elo0, -MAX_ELO, MAX_ELO, "elo0 of -sprt"),
        read_real(elo1, -MAX_ELO, MAX_ELO, "elo1 of -sprt"),
        read_real(alpha, 0, 1, "alpha of -sprt"),
        read_real(beta, 0, 1, "beta of -sprt"),
    )
    try:
        return Sprt(*numbers, next(known for known in MODELS if known == chosen))
    except ValueError as error:
        raise InputError("-sprt", str(error)) from None


def suggestion(text: str, known: Iterable[str]) -> str:
    """``; did you mean …?`` if a known word is close to the text, else nothing."""
    close = difflib.get_close_matches(text.lower(), list(known), n=1, cutoff=0.7)
    return f"; did you mean {close[0]}?" if close else ""


def parse(argv: Sequence[str]) -> Given:
    """The flags of a command line; an `InputError` for a word that belongs to none."""
    given = Given()
    for name, words in _expanded(argv, given.configs):
        given.line += [name, *words]
        flag = FLAGS[name]
        if flag.keys:
            pairs = _pairs(name, flag, words)
            if name == "-engine":
                given.engines.append(pairs)
            else:
                given.pairs.setdefault(name, {}).update(pairs)
            continue
        fewest, most = flag.words
        if not fewest <= len(words) <= most:
            takes = "no value" if most == 0 else "a value" if fewest else "at most one value"
            extra = words[most] if len(words) > most else name
            raise InputError(extra, f"{name} takes {takes}; see merels tournament --help")
        if flag.repeats:
            given.words.setdefault(name, []).extend(words)
        else:
            given.words[name] = words
    return given


def _expanded(argv: Sequence[str], files: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Each flag with its words, and the flags of a ``-config`` file (noted in ``files``)."""
    for name, words in _grouped(argv):
        if name != "-config":
            yield name, words
            continue
        path = _pairs(name, FLAGS[name], words).get("file", "")
        if not path:
            raise InputError(name, "expected file=, a text file of flags")
        files.append(path)
        for inner in _grouped(_words_in(path)):
            if inner[0] == "-config":
                raise file_error(path, "a file of flags cannot name another with -config")
            yield inner


def without(argv: Sequence[str], flags: Sequence[str]) -> list[str]:
    """A command line without some flags and their words."""
    return [
        word
        for name, words in _grouped(argv)
        if name not in flags
        for word in (name, *words)
    ]


def _words_in(path: str) -> list[str]:
    """The words of a file of flags, split as a shell splits them; ``#`` starts a comment."""
    text = read_text(path)
    if "\0" in text:
        raise file_error(path, "expected a text file of flags, found a zero byte in it")
    try:
        return shlex.split(text, comments=True)
    except ValueError as error:
        raise file_error(path, f"cannot read the flags in this file: {error}") from None


def _grouped(words: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Each flag with the words after it."""
    index = 0
    while index < len(words):
        name = "-" + words[index].lstrip("-") if words[index].startswith("--") else words[index]
        if name not in FLAGS:
            if not name.startswith("-"):
                raise InputError(words[index], "expected a flag such as -engine or -rounds")
            raise InputError(words[index], f"unknown flag{suggestion(name, FLAGS)}")
        end = index + 1
        while end < len(words) and not _looks_like_flag(words[end]):
            end += 1
        yield name, list(words[index + 1 : end])
        index = end


def _looks_like_flag(word: str) -> bool:
    """Whether a word is a flag: a dash and a letter, and no ``=``."""
    return word[:1] == "-" and word.lstrip("-")[:1].isalpha() and "=" not in word


def _pairs(name: str, flag: Flag, words: Sequence[str]) -> dict[str, str]:
    """The ``key=value`` words of a flag; ``plies`` of an engine is its ``depth``."""
    pairs: dict[str, str] = {}
    for index, word in enumerate(words):
        key, equals, value = word.partition("=")
        if not equals and flag.plain and index == 0:
            key, value = flag.plain, word
        elif not equals and key in SWITCHES and key in flag.keys:
            value = "true"
        elif not equals:
            keys = ", ".join(f"{known}=" for known in flag.keys if known != OPTION)
            raise InputError(word, f"expected {keys} after {name}{suggestion(word, flag.keys)}")
        if key.startswith(OPTION) and OPTION in flag.keys:
            if key == OPTION:
                raise InputError(word, "expected option.Name=value")
        elif key not in flag.keys:
            raise InputError(f"{key}=", f"unknown key for {name}{suggestion(key, flag.keys)}")
        if key == "plies" and "depth" in flag.keys:
            key = "depth"
        pairs[key] = value
    return pairs
