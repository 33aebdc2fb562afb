"""Steps that judge every line so far: its form, its words and its numbers."""

from __future__ import annotations

import os

from merels.protocol.check.conversation import Fault
from merels.protocol.check.step import Group
from merels.protocol.check.steps.moves import survey
from merels.protocol.check.subject import Subject
from merels.protocol.check.transcript import Kind, read

GROUP = Group("output", "Output")
KNOWN = ("id", "option", "uciok", "ugiok", "readyok", "info", "bestmove", "copyprotection",
         "registration", "response")
TIME_SLACK = 0.05
"""Seconds by which a stated time may exceed the client's own."""


@GROUP.step()
def one_bestmove(engine: Subject) -> None:
    """Each go gets exactly one bestmove; a second one is read as the answer to the next search,
    and then every answer is one move late."""
    list(survey(engine))
    engine.ensure()
    engine.listen(engine.pace.listen / 2)
    if engine.strays:
        line, sent = engine.strays[0]
        raise Fault(f"a bestmove that answers no go, last sent: '{sent}'", line)


@GROUP.step(protocols=("uci",))
def bestmove_form(engine: Subject) -> None:
    """The answer is 'bestmove M' or 'bestmove M ponder M', and nothing else."""
    for search in survey(engine):
        words = search.words
        if words[0] != "bestmove":
            raise Fault("is not in lower case", search.best)
        if len(words) != 2 and not (len(words) == 4 and words[2] == "ponder"):
            raise Fault("is neither 'bestmove M' nor 'bestmove M ponder M'", search.best)


@GROUP.step(protocols=("ugi",))
def bestmove_two_words(engine: Subject) -> None:
    """In UGI the line holds only bestmove and the move; clients read the rest of the line as part
    of the move."""
    for search in survey(engine):
        if len(search.words) != 2:
            raise Fault("does not have exactly two words", search.best)


@GROUP.step()
def score_before_bestmove(engine: Subject) -> None:
    """At least one info line with a score precedes each bestmove, even without time to think;
    tournaments adjudicate by it, and some clients fail without one."""
    for search in survey(engine):
        if not search.scored:
            raise Fault(f"no info line with a score precedes it, {search}", search.best)


@GROUP.step()
def info_syntax(engine: Subject) -> None:
    """Info lines consist of known words with their numbers (unknown words are only a warning);
    clients drop a line with 'nodes abc', or crash."""
    for search in survey(engine):
        for line, info in search.infos:
            if info.mistakes:
                raise Fault(info.mistakes[0], line)
            if info.unknown:
                engine.warn(f"'{info.unknown[0]}' is not a word of info lines", line)


@GROUP.step()
def info_bounds(engine: Subject) -> None:
    """Numbers are within their bounds: hashfull from 0 to 1000, the three of wdl add up to 1000,
    and multipv counts from 1."""
    for search in survey(engine):
        for line, info in search.infos:
            if not 0 <= info.numbers.get("hashfull", 0) <= 1000:
                raise Fault("hashfull is in permille, 0 to 1000", line)
            if info.wdl and sum(info.wdl) != 1000:
                raise Fault(f"the three numbers of wdl add up to {sum(info.wdl)}", line)
            if info.numbers.get("multipv", 1) < 1:
                raise Fault("multipv counts from 1", line)


@GROUP.step()
def info_depth_rises(engine: Subject) -> None:
    """Within a search the depth never decreases; clients take the last line for the best."""
    for search in survey(engine):
        depths: dict[int, int] = {}
        for line, info in search.scored:
            number = info.numbers.get("multipv", 1)
            before = depths.get(number, 0)
            depth = depths[number] = info.numbers.get("depth", before)
            if depth < before:
                raise Fault(f"depth {depth} follows depth {before}, {search}", line)


@GROUP.step()
def info_counts_rise(engine: Subject) -> None:
    """Within a search nodes and time never decrease: they count from its start."""
    for search in survey(engine):
        for word in ("nodes", "time"):
            before = 0
            for line, info in search.infos:
                count = info.numbers.get(word, before)
                if count < before:
                    raise Fault(f"{word} decreases from {before}, {search}", line)
                before = count


@GROUP.step()
def info_time_honest(engine: Subject) -> None:
    """The stated time is not longer than the time that passed for the client."""
    for search in survey(engine):
        for line, info in search.infos:
            seconds = (line.at - search.started) / 1e9
            if info.numbers.get("time", 0) / 1000 > seconds + TIME_SLACK:
                raise Fault(f"states more time than the {seconds * 1000:.0f} ms that had passed",
                            line)


@GROUP.step()
def info_complete(engine: Subject) -> None:
    """The last line with a score has depth, nodes, time and pv, and the pv begins with the
    bestmove; clients show all of them (only a warning)."""
    for search in survey(engine):
        if search.final is None or search.kind is not Kind.LEGAL:
            continue
        line, info = search.final
        missing = [word for word in ("depth", "nodes", "time") if word not in info.numbers]
        missing += [] if info.pv else ["pv"]
        if missing:
            engine.warn(f"the last line with a score has no {', '.join(missing)}", line)
        elif info.pv and read(info.pv[0]) != read(search.answer):
            engine.warn(f"the pv does not begin with '{search.answer}', which is played", line)


@GROUP.step()
def known_lines(engine: Subject) -> None:
    """Every line begins with a word of the protocol; anything else belongs after 'info string'."""
    list(survey(engine))
    for line in engine.transcript:
        if line.first and line.first not in KNOWN:
            engine.warn("does not begin with a word of the protocol", line)
            return


@GROUP.step()
def clean_lines(engine: Subject) -> None:
    """Lines are valid UTF-8 without outer spaces, tabs and control characters; strict clients
    misread others. CR before LF and empty lines are only a warning."""
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
            raise Fault("has spaces at its ends", line)
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            raise Fault("is not valid UTF-8", line) from None
        if any(ord(c) < 32 or ord(c) == 127 for c in text):
            raise Fault("contains a tab or another control character", line)


@GROUP.step()
def silent_stderr(engine: Subject) -> None:
    """Nothing is written to standard error: some clients read it as output, and others never
    read it, which blocks an engine that fills it (only a warning)."""
    list(survey(engine))
    text = engine.stderr()
    if text:
        engine.warn("something was written to standard error", text.splitlines()[0])
