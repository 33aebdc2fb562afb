"""Steps about the engine's moves and answers, and about the syntax and numbers of its output.

Most of these steps judge the output of all earlier steps.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import reduce

from merels.engine.game.notation import parse_move
from merels.engine.game.position import WHITE, Position
from merels.protocol.check.conversation import Fault, Skip
from merels.protocol.check.positions import (
    AHEAD,
    FINISHED,
    FLYING,
    FORCED,
    GAME,
    MOVING,
    PLACING,
    REMOVALS,
    START,
    WINNING,
    drawn_games,
)
from merels.protocol.check.step import step
from merels.protocol.check.subject import Kind, Search, Subject, judge, move_or_none
from merels.protocol.client.answers import NO_MOVES

SURVEY = (START, PLACING, MOVING, FLYING, REMOVALS, WINNING, AHEAD)
"""Positions that `survey` searches, besides the position after `GAME`."""
LINE_WORDS = ("id", "option", "uciok", "ugiok", "readyok", "info", "bestmove", "copyprotection",
              "registration", "response")
"""First words of the protocol's lines."""
WRONG_SIGN = -100
"""A score of Black in `AHEAD`, in centipawns, at or below which it may be White's."""
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


@step("moves")
def bestmove_legal(engine: Subject) -> None:
    """Every bestmove so far was legal, and a move that closes a mill named the man that it removes
    in the same word (d6-d5xc3); an illegal move loses the game in every tournament."""
    for search in survey(engine):
        move = search.move
        reasons = {
            Kind.NONE: "plays no move although there are legal moves",
            Kind.WITHOUT_REMOVAL: "closes a mill and removes nothing",
            Kind.UNREADABLE: "is not a move such as d6, d6xb4, d6-d5 or d6-d5xc3",
            Kind.ILLEGAL: f"is illegal ({search.position.objection(move) if move else ''})",
        }
        if search.kind is not Kind.LEGAL:
            raise Fault(f"{reasons[search.kind]}, {search}", search.best)


@step("moves", "bestmove-legal")
def forced_move(engine: Subject) -> None:
    """If only one move is legal, the engine plays it under every kind of limit; engines with a
    shortcut for this case have failed to print a bestmove."""
    for go in ("go depth 3", "go movetime 50", "go wtime 1000 btime 1000"):
        search = engine.search(go, FORCED)
        if search.kind is not Kind.LEGAL:
            raise Fault("is not the only legal move", search.best)


@step("moves")
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


@step("moves")
def draws_by_counting(engine: Subject) -> None:
    """After a draw by repetition, NoRemovalPlies or ThreeThreePlies, the answer is 'bestmove 0000'
    or a legal move; an engine with an option for the rule that plays on is only a warning."""
    engine.ensure_ready()
    for field, start, moves in drawn_games(engine.rules):
        search = engine.search("go depth 1", start, moves)
        if search.kind not in (Kind.NONE, Kind.LEGAL):
            raise Fault(f"is illegal, {search}", search.best)
        if search.kind is Kind.LEGAL and field in engine.options:
            engine.warn(f"plays on although {field} has drawn the game, {search}", search.best)


@step("moves", "bestmove-legal")
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


@step("moves")
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


@step("moves", protocols=("uci",))
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


@step("queries", protocols=("ugi",))
def query(engine: Subject) -> None:
    """'query p1turn' returns whether the first player is to move, 'query gameover' whether the game
    has ended, 'query result' the winner, 'draw' or 'none'; clients without the rules of the game
    depend on them."""
    engine.ensure_ready()
    games: list[tuple[str, list[str]]] = [
        (text, []) for text in (START, MOVING, WINNING, *FINISHED.values())
    ]
    games += [(start, moves) for _, start, moves in drawn_games(engine.rules)]
    for text, moves in games:
        first = engine.position(text)
        played = [parse_move(move) for move in moves]
        position = reduce(Position.push, played, first)
        setup = engine.dialect.position(first, played).decode()
        for question, answer in (
            ("p1turn", str(position.side == WHITE).lower()),
            ("gameover", str(position.outcome() is not None).lower()),
            ("result", _result(position)),
        ):
            engine.send(setup, f"query {question}")
            lines = [line for line in engine.ping() if line.first == "response"]
            if len(lines) != 1:
                raise Fault(f"{len(lines)} responses to 'query {question}'",
                            lines[-1] if lines else None)
            if lines[0].text != f"response {answer}":
                reason = f"'query {question}' should get 'response {answer}' after '{setup}'"
                raise Fault(reason, lines[0])


def _result(position: Position) -> str:
    """Return the response to 'query result'."""
    outcome = position.outcome()
    if outcome is None:
        return "none"
    return "draw" if outcome.winner is None else f"p{outcome.winner + 1}win"


@step("output")
def one_bestmove(engine: Subject) -> None:
    """Each go gets exactly one bestmove; clients read a second bestmove as the answer to the next
    go."""
    list(survey(engine))
    engine.ensure_ready()
    engine.listen(engine.pace.listen / 2)
    if engine.stray_bestmoves:
        line, sent = engine.stray_bestmoves[0]
        raise Fault(f"a bestmove that answers no go, last sent: '{sent}'", line)


@step("output")
def bestmove_form(engine: Subject) -> None:
    """The answer has the form 'bestmove M' or 'bestmove M ponder M'; in UGI only 'bestmove M', as
    clients there read the rest of the line as part of the move. Another way to write a move (D6,
    d6d5) is only a warning."""
    other_form: Search | None = None
    for search in survey(engine):
        words = search.words
        if words[0] != "bestmove":
            raise Fault("is not in lower case", search.best)
        if search.move is not None and str(search.move) != search.answer:
            other_form = other_form or search
        if len(words) == 4 and words[2] == "ponder" and engine.dialect.can_ponder:
            continue
        if len(words) != 2:
            raise Fault("does not have exactly the words of an answer", search.best)
    if other_form is not None:
        engine.warn(f"writes '{other_form.answer}' for {other_form.move}", other_form.best)


@step("output")
def score_before_bestmove(engine: Subject) -> None:
    """At least one info line with a score precedes each bestmove, even without time to think;
    tournaments adjudicate by scores, and some clients fail without a score. Scores are from the
    engine's point of view: -100 or less for a side with twice the men is a warning."""
    for search in survey(engine):
        if not search.scored:
            raise Fault(f"no info line with a score precedes it, {search}", search.best)
        if AHEAD in search.setup and search.final is not None:
            line, info = search.final
            if info.numbers.get("cp", 0) <= WRONG_SIGN or info.numbers.get("mate", 0) < 0:
                engine.warn("is it White's score? Black, to move, has 8 men against 4", line)


@step("output")
def info_syntax(engine: Subject) -> None:
    """Info lines consist of the protocol's words with their numbers (an unknown word is only a
    warning), hashfull from 0 to 1000, wdl with a sum of 1000, multipv from 1; clients drop a line
    with 'nodes abc', or crash."""
    for search in survey(engine):
        for line, info in search.infos:
            if info.mistakes:
                raise Fault(info.mistakes[0], line)
            if info.unknown:
                engine.warn(f"'{info.unknown[0]}' is not a word of info lines", line)
            if not 0 <= info.numbers.get("hashfull", 0) <= 1000:
                raise Fault("hashfull is in permille, 0 to 1000", line)
            if info.wdl and sum(info.wdl) != 1000:
                raise Fault(f"the three numbers of wdl add up to {sum(info.wdl)}", line)
            if info.numbers.get("multipv", 1) < 1:
                raise Fault("multipv counts from 1", line)


@step("output")
def info_counts(engine: Subject) -> None:
    """Within a search, depth, nodes and time never decrease, and time is at most the time that the
    client has measured since go, plus 50 ms; clients show the last line as the best."""
    for search in survey(engine):
        latest: dict[tuple[str, int], int] = {}
        for line, info in search.infos:
            variation = info.numbers.get("multipv", 1)
            for word in ("depth", "nodes", "time"):
                count = info.numbers.get(word)
                if count is None or word == "depth" and not info.scored:
                    continue
                key = word, variation if word == "depth" else 0
                if count < latest.get(key, 0):
                    raise Fault(f"{word} decreases from {latest[key]}, {search}", line)
                latest[key] = count
            seconds = (line.arrived - search.started) / 1e9
            if info.numbers.get("time", 0) / 1000 > seconds + TIME_SLACK:
                raise Fault(f"states more time than the {seconds * 1000:.0f} ms that had passed",
                            line)


@step("output")
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


@step("output")
def clean_lines(engine: Subject) -> None:
    """Lines are valid UTF-8, without tabs and other control characters, and without spaces at their
    ends; strict clients misread other lines. CR before LF, empty lines and lines that begin with no
    word of the protocol are only a warning."""
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
        if line.first not in LINE_WORDS:
            engine.warn("does not begin with a word of the protocol", line)


@step("output")
def silent_stderr(engine: Subject) -> None:
    """The engine writes nothing to standard error (only a warning). Some clients read it as
    output; other clients never read it, so an engine that fills the pipe blocks."""
    list(survey(engine))
    text = engine.stderr()
    if text:
        engine.warn("something was written to standard error", text.splitlines()[0])
