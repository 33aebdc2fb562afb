"""Steps that judge every line heard so far: its form, its words and its numbers."""

from __future__ import annotations

import os
from itertools import pairwise

from merels.protocol.check.faults import Fault
from merels.protocol.check.step import Group
from merels.protocol.check.steps.moves import survey
from merels.protocol.check.subject import Subject
from merels.protocol.check.transcript import Info, Kind, read

GROUP = Group("output", "Output", needs=("greeting", "ready", "answers"))
KNOWN = ("id", "option", "uciok", "ugiok", "readyok", "info", "bestmove", "copyprotection",
         "registration", "response")
TIME_SLACK = 0.05
"""Seconds by which a stated time may exceed the client's, which also counts the way."""


@GROUP.step()
def one_bestmove(engine: Subject) -> None:
    """Each go gets one bestmove, never two; a second one is taken for the answer to the next
    search, and from then on every answer is one move late."""
    list(survey(engine))
    engine.ensure()
    engine.listen(engine.pace.listen / 2)
    if engine.strays:
        line, said = engine.strays[0]
        raise Fault(f"a bestmove that nobody asked for, last sent: '{said}'", line.raw)


@GROUP.step(protocols=("uci",))
def bestmove_form(engine: Subject) -> None:
    """The answer reads 'bestmove T' or 'bestmove T ponder T' and nothing else."""
    for search in survey(engine):
        assert search.best is not None
        words = search.best.words
        if words[0] != "bestmove":
            raise Fault("is not written in lower case", search.quote)
        if len(words) != 2 and not (len(words) == 4 and words[2] == "ponder"):
            raise Fault("is neither 'bestmove T' nor 'bestmove T ponder T'", search.quote)


@GROUP.step(protocols=("ugi",))
def bestmove_two_words(engine: Subject) -> None:
    """In UGI bestmove and the move are all there is on the line; clients of that protocol read
    the rest as part of the move."""
    for search in survey(engine):
        assert search.best is not None
        if len(search.best.words) != 2:
            raise Fault("has not exactly two words", search.quote)


@GROUP.step()
def score_before_bestmove(engine: Subject) -> None:
    """At least one info line with a score comes before each bestmove, even of a search of no
    time; tournaments adjudicate by it, and some clients fail without one."""
    for search in survey(engine):
        if not any(info.scored for info in search.infos):
            raise Fault(f"no info line with a score before it, {search}", search.quote)


def _infos(engine: Subject) -> list[Info]:
    """Every info line of the searches so far."""
    return [info for search in survey(engine) for info in search.infos]


@GROUP.step()
def info_syntax(engine: Subject) -> None:
    """Info lines are made of known words, each with the number that belongs to it (an unknown
    word is only unusual); a client that meets 'nodes abc' drops the line or dies."""
    for info in _infos(engine):
        if info.mistakes:
            raise Fault(info.mistakes[0], info.line.raw)
        if info.unknown:
            engine.warn(f"'{info.unknown[0]}' is no word of an info line", info.line)


@GROUP.step()
def info_bounds(engine: Subject) -> None:
    """Numbers lie where they can: hashfull from 0 to 1000, the three of wdl together 1000,
    multipv from 1."""
    for info in _infos(engine):
        numbers = info.numbers
        if not 0 <= numbers.get("hashfull", 0) <= 1000:
            raise Fault("hashfull is in permille, 0 to 1000", info.line.raw)
        if info.wdl and sum(info.wdl) != 1000:
            raise Fault(f"the three numbers of wdl add up to {sum(info.wdl)}", info.line.raw)
        if numbers.get("multipv", 1) < 1:
            raise Fault("multipv counts from 1", info.line.raw)


@GROUP.step()
def info_depth_rises(engine: Subject) -> None:
    """Within a search the depth of the lines never falls; clients take the last line for the
    best."""
    for search in survey(engine):
        depths: dict[int, int] = {}
        for info in search.infos:
            if not info.scored or "depth" not in info.numbers:
                continue
            line, depth = info.numbers.get("multipv", 1), info.numbers["depth"]
            if depth < depths.get(line, 0):
                raise Fault(f"depth {depth} comes after depth {depths[line]}, {search}",
                            info.line.raw)
            depths[line] = depth


@GROUP.step()
def info_counts_rise(engine: Subject) -> None:
    """Within a search nodes and time never fall: they are the whole search's."""
    for search in survey(engine):
        for word in ("nodes", "time"):
            told = [info for info in search.infos if word in info.numbers]
            for before, after in pairwise(told):
                if after.numbers[word] < before.numbers[word]:
                    raise Fault(f"{word} falls from {before.numbers[word]}, {search}",
                                after.line.raw)


@GROUP.step()
def info_time_honest(engine: Subject) -> None:
    """The time that is stated is no longer than the search took by the client's clock."""
    for search in survey(engine):
        for info in search.infos:
            seconds = (info.line.at - search.started) / 1e9
            if info.numbers.get("time", 0) / 1000 > seconds + TIME_SLACK:
                raise Fault(f"states more time than the {seconds * 1000:.0f} ms that had passed",
                            info.line.raw)


@GROUP.step()
def info_complete(engine: Subject) -> None:
    """A search's last scored line has depth, score, nodes, time and pv, and the pv begins with
    the bestmove; what is missing is missing in every client's window (unusual, no fault)."""
    for search in survey(engine):
        final = search.final
        if final is None or search.kind is not Kind.LEGAL:
            continue
        missing = [word for word in ("depth", "nodes", "time") if word not in final.numbers]
        missing += [] if final.pv else ["pv"]
        if missing:
            engine.warn(f"the last line with a score has no {', '.join(missing)}", final.line)
        elif final.pv and read(final.pv[0]) != read(search.answer):
            engine.warn(f"the pv does not begin with '{search.answer}', which is played",
                        final.line)


@GROUP.step()
def known_lines(engine: Subject) -> None:
    """Lines begin with a word of the protocol; anything else belongs behind 'info string'."""
    list(survey(engine))
    for line in engine.transcript:
        if line.first and line.first not in KNOWN:
            engine.warn("begins with no word of the protocol", line)
            return


@GROUP.step()
def clean_lines(engine: Subject) -> None:
    """Lines have no blanks at their ends, no tabs or control characters and are whole UTF-8;
    clients that compare or split strictly miss them otherwise. CR before LF and empty lines are
    only unusual."""
    list(survey(engine))
    for line in engine.transcript:
        raw = line.raw
        if raw.endswith(b"\r"):
            raw = raw[:-1]
            if os.name == "posix":
                engine.warn("ends in CR LF", line)
        if not raw:
            engine.warn("is empty", line)
            continue
        if raw != raw.strip():
            raise Fault("has blanks at its ends", line.raw)
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            raise Fault("is not UTF-8", line.raw) from None
        if any(ord(c) < 32 or ord(c) == 127 for c in text):
            raise Fault("holds a tab or another control character", line.raw)


@GROUP.step()
def silent_stderr(engine: Subject) -> None:
    """Standard error stays empty: clients that join it to the output read it as answers, and
    one that never reads it stops an engine that fills it (unusual, no fault)."""
    list(survey(engine))
    text = engine.stderr()
    if text:
        engine.warn("something was written to standard error", text.splitlines()[0])
