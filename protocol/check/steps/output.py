"""Steps about the engine's moves, and about the syntax and numbers of its output.

Most of these steps judge the output of all earlier steps.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from merels.engine.game.notation import parse_move
from merels.protocol.check.conversation import Fault, Skip
from merels.protocol.check.positions import (
    FINISHED,
    FLYING,
    FORCED,
    GAME,
    MOVING,
    PLACING,
    REMOVALS,
    SHUFFLE,
    START,
    WINNING,
)
from merels.protocol.check.step import Group
from merels.protocol.check.subject import Subject
from merels.protocol.check.transcript import Kind, Search, judge, move_or_none
from merels.protocol.client.answers import NO_MOVES

MOVES = Group("moves", "Moves")
SURVEY = (START, PLACING, MOVING, FLYING, REMOVALS, WINNING)
"""Positions that `survey` searches, besides the position after `GAME`."""
OUTPUT = Group("output", "Output")
LINE_WORDS = ("id", "option", "uciok", "ugiok", "readyok", "info", "bestmove", "copyprotection",
              "registration", "response")
"""First words of the protocol's lines."""
TIME_SLACK = 0.05
"""Tolerance of an info line's ``time`` above the time that the client measured, in seconds."""


def survey(engine: Subject) -> Iterator[Search]:
    """Yield all finished searches so far whose game was not over.

    The first call first searches the positions in `SURVEY`, and the position after `GAME`. If that
    fails, the first call raises the error, and every later call raises `Skip`.
    """
    if engine.surveyed is None:
        engine.surveyed = False
        engine.new_game()
        for text in SURVEY:
            engine.search("go depth 4", text)
        engine.search("go depth 4", START, GAME)
        engine.surveyed = True
    if not engine.surveyed:
        raise Skip("the searches that this step judges failed in an earlier step")
    for search in engine.searches:
        if search.best is not None and search.position.outcome() is None:
            yield search


@MOVES.step()
def whole_moves(engine: Subject) -> None:
    """A move that closes a mill names the man that it removes in the same word (d6-d5xc3); without
    its removal the move is illegal."""
    for search in survey(engine):
        if search.kind is Kind.WITHOUT_REMOVAL:
            raise Fault(f"closes a mill and removes nothing, {search}", search.best)


@MOVES.step()
def bestmove_legal(engine: Subject) -> None:
    """Every bestmove so far was legal; an illegal move loses the game in every tournament."""
    for search in survey(engine):
        kind = search.kind
        if kind in (Kind.LEGAL, Kind.WITHOUT_REMOVAL):
            continue
        reason = "plays no move although there are legal moves"
        if kind is Kind.UNREADABLE:
            reason = "is not a move such as d6, d6xb4, d6-d5 or d6-d5xc3"
        elif kind is Kind.ILLEGAL:
            move = search.move
            reason = f"is illegal ({search.position.objection(move) if move else ''})"
        raise Fault(f"{reason}, {search}", search.best)


@MOVES.step(needs=("bestmove-legal",))
def forced_move(engine: Subject) -> None:
    """If only one move is legal, the engine plays it under every kind of limit; engines with a
    shortcut for this case have failed to print a bestmove."""
    engine.require_ongoing(FORCED)
    for go in ("go depth 3", "go movetime 50", "go wtime 1000 btime 1000"):
        search = engine.search(go, FORCED)
        if search.kind is not Kind.LEGAL:
            raise Fault("is not the only legal move", search.best)


@MOVES.step()
def finished_games(engine: Subject) -> None:
    """In a lost position there is no move, and the answer is 'bestmove 0000' at once; a client
    that sends go anyway must neither hang nor get a move."""
    for reason, text in FINISHED.items():
        search = engine.search("go movetime 50", text)
        answer = search.answer.lower()
        if answer not in NO_MOVES:
            raise Fault(f"plays on although the game is over: {reason}", search.best)
        if answer != "0000":
            engine.warn(f"writes '{answer}' when the game is over; 0000 is usual", search.best)
        if not search.scored:
            engine.warn(f"no score before bestmove when the game is over: {reason}", search.best)


@MOVES.step(needs=("bestmove-legal",))
def repeated_position(engine: Subject) -> None:
    """The moves after a position count for repetition: if a position recurs often enough, the
    game is drawn. An engine that plays on gets only a warning, as the client is the referee."""
    if not engine.rules.repetition:
        raise Skip("the engine's rules have no repetition")
    search = engine.search("go depth 3", MOVING, SHUFFLE * (engine.rules.repetition - 1))
    if search.position.outcome() is None:
        raise Skip("another rule ends this game")
    if search.kind is not Kind.NONE:
        engine.warn("plays on although the game is a draw by repetition", search.best)


@MOVES.step(needs=("whole-moves", "bestmove-legal"))
def whole_games(engine: Subject) -> None:
    """In games of the engine against itself, every move is legal under the rules that its options
    name (or -variant and -set)."""
    for number in range(engine.pace.games):
        engine.new_game()
        moves: list[str] = []
        position = engine.position(START)
        while position.outcome() is None and len(moves) < engine.pace.plies:
            search = engine.search(f"go depth {2 + number}", START, moves)
            move = search.move
            if move is None or not position.is_legal(move):
                raise Fault(f"is illegal at ply {len(moves) + 1} of a game: {search}", search.best)
            position = position.play(move)
            moves.append(str(move))


@MOVES.step()
def pv_legal(engine: Subject) -> None:
    """Every move of every pv so far was legal; clients show variations on a board, and an illegal
    move is often the sign of a hash collision."""
    for search in survey(engine):
        for line, info in search.infos:
            position = search.position
            for token in info.pv or ():
                if judge(position, token) is not Kind.LEGAL:
                    raise Fault(f"'{token}' in the pv is illegal, {search}", line)
                position = position.play(parse_move(token))


@MOVES.step(protocols=("uci",))
def ponder_legal(engine: Subject) -> None:
    """The move after 'ponder' is legal after the bestmove; clients send the position after both
    moves with 'go ponder'."""
    for search in survey(engine):
        words, move = search.words, search.move
        if words[2:3] != ["ponder"] or move is None or search.kind is not Kind.LEGAL:
            continue
        token = words[3] if len(words) > 3 else ""
        if judge(search.position.play(move), token) is not Kind.LEGAL:
            raise Fault(f"'{token}' is not legal after '{search.answer}', {search}", search.best)


@OUTPUT.step()
def one_bestmove(engine: Subject) -> None:
    """Each go gets exactly one bestmove; clients read a second bestmove as the answer to the next
    go."""
    list(survey(engine))
    engine.ensure_ready()
    engine.listen(engine.pace.listen / 2)
    if engine.stray_bestmoves:
        line, sent = engine.stray_bestmoves[0]
        raise Fault(f"a bestmove that answers no go, last sent: '{sent}'", line)


@OUTPUT.step(protocols=("uci",))
def bestmove_form(engine: Subject) -> None:
    """The answer has the form 'bestmove M' or 'bestmove M ponder M'."""
    for search in survey(engine):
        words = search.words
        if words[0] != "bestmove":
            raise Fault("is not in lower case", search.best)
        if len(words) != 2 and not (len(words) == 4 and words[2] == "ponder"):
            raise Fault("is neither 'bestmove M' nor 'bestmove M ponder M'", search.best)


@OUTPUT.step(protocols=("ugi",))
def bestmove_two_words(engine: Subject) -> None:
    """In UGI the line has exactly two words, bestmove and the move; clients read the rest of the
    line as part of the move."""
    for search in survey(engine):
        if len(search.words) != 2:
            raise Fault("does not have exactly two words", search.best)


@OUTPUT.step()
def score_before_bestmove(engine: Subject) -> None:
    """At least one info line with a score precedes each bestmove, even without time to think;
    tournaments adjudicate by scores, and some clients fail without a score."""
    for search in survey(engine):
        if not search.scored:
            raise Fault(f"no info line with a score precedes it, {search}", search.best)


@OUTPUT.step()
def info_syntax(engine: Subject) -> None:
    """Info lines consist of the protocol's words with their numbers (an unknown word is only a
    warning); clients drop a line with 'nodes abc', or crash."""
    for search in survey(engine):
        for line, info in search.infos:
            if info.mistakes:
                raise Fault(info.mistakes[0], line)
            if info.unknown:
                engine.warn(f"'{info.unknown[0]}' is not a word of info lines", line)


@OUTPUT.step()
def info_bounds(engine: Subject) -> None:
    """Numbers are in range: hashfull from 0 to 1000, wdl with a sum of 1000, and multipv from
    1."""
    for search in survey(engine):
        for line, info in search.infos:
            if not 0 <= info.numbers.get("hashfull", 0) <= 1000:
                raise Fault("hashfull is in permille, 0 to 1000", line)
            if info.wdl and sum(info.wdl) != 1000:
                raise Fault(f"the three numbers of wdl add up to {sum(info.wdl)}", line)
            if info.numbers.get("multipv", 1) < 1:
                raise Fault("multipv counts from 1", line)


@OUTPUT.step()
def info_depth_rises(engine: Subject) -> None:
    """Within a search the depth never decreases; clients show the last line as the best."""
    for search in survey(engine):
        depths: dict[int, int] = {}
        for line, info in search.scored:
            number = info.numbers.get("multipv", 1)
            last_depth = depths.get(number, 0)
            depth = depths[number] = info.numbers.get("depth", last_depth)
            if depth < last_depth:
                raise Fault(f"depth {depth} follows depth {last_depth}, {search}", line)


@OUTPUT.step()
def info_counts_rise(engine: Subject) -> None:
    """Within a search nodes and time never decrease: both count from the start of the search."""
    for search in survey(engine):
        for word in ("nodes", "time"):
            last_count = 0
            for line, info in search.infos:
                count = info.numbers.get(word, last_count)
                if count < last_count:
                    raise Fault(f"{word} decreases from {last_count}, {search}", line)
                last_count = count


@OUTPUT.step()
def info_time_honest(engine: Subject) -> None:
    """The time of an info line is at most the time that the client has measured since go, plus
    50 ms."""
    for search in survey(engine):
        for line, info in search.infos:
            seconds = (line.at - search.started) / 1e9
            if info.numbers.get("time", 0) / 1000 > seconds + TIME_SLACK:
                raise Fault(f"states more time than the {seconds * 1000:.0f} ms that had passed",
                            line)


@OUTPUT.step()
def info_complete(engine: Subject) -> None:
    """The last info line with an exact score has depth, nodes, time and pv, and the last pv begins
    with the bestmove; clients show all of these (only a warning)."""
    for search in survey(engine):
        if search.final is None or search.kind is not Kind.LEGAL:
            continue
        line, info = search.final
        missing = [word for word in ("depth", "nodes", "time") if word not in info.numbers]
        missing += [] if info.pv else ["pv"]
        if missing:
            engine.warn(f"the last line with a score has no {', '.join(missing)}", line)
            continue
        # When a limit ends an iteration, the bestmove may come from a line with a lower bound.
        first, line = [(info.pv[0], line) for line, info in search.scored
                       if info.pv and info.numbers.get("multipv", 1) == 1][-1]
        if move_or_none(first) != search.move:
            engine.warn(f"the pv does not begin with '{search.answer}', which is played", line)


@OUTPUT.step()
def known_lines(engine: Subject) -> None:
    """Every line begins with a word of the protocol (another word is only a warning); other output
    belongs after 'info string'."""
    list(survey(engine))
    for line in engine.transcript:
        if line.first and line.first not in LINE_WORDS:
            engine.warn("does not begin with a word of the protocol", line)
            return


@OUTPUT.step()
def clean_lines(engine: Subject) -> None:
    """Lines are valid UTF-8, without tabs and other control characters, and without spaces at their
    ends; strict clients misread other lines. CR before LF and empty lines are only a warning."""
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


@OUTPUT.step()
def silent_stderr(engine: Subject) -> None:
    """The engine writes nothing to standard error (only a warning). Some clients read it as
    output; other clients never read it, so an engine that fills the pipe blocks."""
    list(survey(engine))
    text = engine.stderr()
    if text:
        engine.warn("something was written to standard error", text.splitlines()[0])
