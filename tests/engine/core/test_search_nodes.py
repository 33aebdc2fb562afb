"""Single steps of the search: the nodes that they visit, and the table entries that they store."""

from __future__ import annotations

import math

import pytest

from merels.engine.core import core
from merels.engine.core.convert import core_board, core_moves, core_rules, decode_move
from merels.engine.game.notation import parse_position
from merels.engine.game.position import Position
from tests.engine.core.known_values import (
    EXACT,
    LOWER,
    NO_MOVE,
    QUIET,
    RULES,
    UPPER,
    Entry,
    Search,
    after,
    count_men,
    men_ahead,
    positions,
)
from tests.engine.core.reply_order import order_of_replies

pytestmark = pytest.mark.usefixtures("equal_positions")
FIRST_MOVE, SECOND_MOVE = core_moves(QUIET)[:2]


def test_an_iteration_of_one_ply_visits_each_root_move_once() -> None:
    moves = core_moves(QUIET)
    for count in range(1, len(moves) + 1):
        assert Search().run(QUIET, 1, moves[:count]).nodes == count


@pytest.mark.parametrize(
    ("entry", "nodes"),
    [
        # The second move has the null window (-1, 0). These entries prove that it is no better.
        (Entry(0, 1, LOWER), -1), (Entry(500, 1, LOWER), -1), (Entry(0, 9, LOWER), -1),
        (Entry(0, 1, EXACT), -1), (Entry(500, 1, EXACT), -1),
        # The move seems better for the root's side, so it is searched again in a full window.
        (Entry(-1, 1, UPPER), 1), (Entry(-500, 1, UPPER), 1), (Entry(-1, 9, UPPER), 1),
        (Entry(-1, 1, EXACT), 1),
        # These entries do not end the node: the bound is of the other kind, or the depth too low.
        (Entry(-1, 1, LOWER), 0), (Entry(-500, 1, LOWER), 0), (Entry(0, 1, UPPER), 0),
        (Entry(500, 1, UPPER), 0), (Entry(0, 0, LOWER), 0), (Entry(-1, 0, UPPER), 0),
        (Entry(0, 0, EXACT), 0), (Entry(-1, 0, EXACT), 0),
    ],
)  # fmt: skip
def test_a_result_in_the_table_ends_a_node_if_it_is_deep_enough_and_beyond_the_window(
    entry: Entry, nodes: int
) -> None:
    moves = [FIRST_MOVE, SECOND_MOVE]
    expected = Search().run(QUIET, 2, moves)
    search = Search()
    search.put(after(QUIET, SECOND_MOVE), entry)
    result = search.run(QUIET, 2, moves)
    assert (result.score, result.line[0]) == (0, FIRST_MOVE)
    assert result.nodes - expected.nodes == nodes


@pytest.mark.parametrize("bound", [UPPER, LOWER, EXACT])
def test_no_result_in_the_table_ends_a_node_of_the_principal_variation(bound: int) -> None:
    expected = Search().run(QUIET, 2, [FIRST_MOVE])
    for score in (-500, 500):
        search = Search()
        search.put(after(QUIET, FIRST_MOVE), Entry(score, 9, bound))
        assert search.run(QUIET, 2, [FIRST_MOVE]) == expected


def test_the_move_of_the_table_is_searched_first_and_once() -> None:
    child = after(QUIET, FIRST_MOVE)
    nodes = Search().run(QUIET, 2, [FIRST_MOVE]).nodes
    for move in core_moves(child):
        search = Search()
        search.put(child, Entry(0, 0, UPPER, move))
        # All moves are equal, so the first move searched stays the best. No move comes twice.
        assert search.run(QUIET, 2, [FIRST_MOVE])[1:] == ([FIRST_MOVE, move], nodes)


def test_an_entry_has_score_depth_bound_and_move() -> None:
    search = Search()
    result = search.run(QUIET, 2)
    assert search.get(QUIET) == Entry(0, 2, EXACT, result.line[0])
    assert search.get(after(QUIET, result.line[0])) == Entry(0, 1, EXACT, result.line[1])
    refuted = search.get(after(QUIET, core_moves(QUIET)[-1]))
    assert refuted is not None and refuted[:3] == (0, 1, LOWER) and refuted.move != NO_MOVE


def test_a_search_of_some_root_moves_stores_nothing_for_the_root() -> None:
    search = Search()
    search.run(QUIET, 2, core_moves(QUIET)[:-1])
    assert search.get(QUIET) is None


def test_a_deep_node_without_an_entry_is_searched_a_ply_less_deeply() -> None:
    """Internal iterative reduction."""
    child = after(QUIET, FIRST_MOVE)
    for depth, has_entry in ((4, False), (4, True), (5, False), (5, True), (7, False)):
        search = Search()
        if has_entry:
            search.put(child, Entry(0, 0, UPPER))
        search.run(QUIET, depth + 1, [FIRST_MOVE])
        entry = search.get(child)
        assert entry is not None
        assert entry.depth == depth - (depth >= 5 and not has_entry)


# Quiescence.


def quiescence(position: Position, alpha: int, beta: int, ply: int) -> tuple[int, int]:
    """Return value and nodes of a reference capture search in a window; a man is worth 100."""
    if position.outcome() is not None:
        return ply - core.WIN, 1
    best, nodes = 100 * men_ahead(position, position.side), 1
    for move in core_moves(position):
        if best >= beta:
            break
        if decode_move(move).removed:
            value, below = quiescence(after(position, move), -beta, -max(alpha, best), ply + 1)
            best, nodes = max(best, -value), nodes + below
    return best, nodes


@pytest.mark.parametrize("men", [(3, 4, 0), (5, 5, 0), (7, 6, 0), (4, 4, 2)])
def test_quiescence_plays_captures_until_one_refutes_the_move(men: tuple[int, int, int]) -> None:
    count_men(400)
    captures = 0
    for position, _ in zip(positions(3, *men), range(60)):
        for move in core_moves(position)[:8]:
            value, nodes = quiescence(after(position, move), -core.WIN, core.WIN, 1)
            assert Search().run(position, 1, [move])[::2] == (-value, nodes), position
            captures += nodes > 1
    assert captures > 10


def test_quiescence_in_a_null_window_ends_at_the_first_refutation() -> None:
    count_men(400)
    refuted = 0
    for position, _ in zip(positions(4, 6, 6), range(150)):
        first, *others = core_moves(position)
        score, _, nodes = Search().run(position, 1, [first])
        for move in others[:6]:
            value, more = quiescence(after(position, move), -score - 1, -score, 1)
            if -value <= score:
                assert Search().run(position, 1, [first, move]).nodes == nodes + more
                refuted += more > 1
    assert refuted > 20


# Pruning, reductions and extensions.


# A position, a move that closes a mill, and a quiet move. In the plies searched after either move,
# no side can close a mill.
MOVING = ("*O*O*@O*/***OO*@*/@*@@***O b 0 0 0 1", "d7-g7xe5", "g4-f4")
PLACING = ("***@*@**/*OO*****/O@**@O** b 1 1 0 1", "d3xf6", "f2")
MANY_REPLIES = ("*O*O*@O*/*O*OO*@*/@*@@***O b 0 0 0 1", "d7-g7xe5", "d7-d6")
FLYING = ("O**@*@**/***OO**O/@****@@* b 0 0 0 1", "d7-a7xf2", "d7-d6")


def position_and_moves(text: str, *moves: str) -> tuple[Position, int, int]:
    """Return a position and two of its moves as codes of the core."""
    position = parse_position(text, RULES)
    codes = {str(decode_move(move)): move for move in core_moves(position)}
    return position, codes[moves[0]], codes[moves[1]]


@pytest.mark.parametrize(
    ("case", "depth", "margin"), [(MOVING, 1, 30), (MOVING, 2, 60), (PLACING, 1, 50)]
)
def test_a_node_is_pruned_only_if_it_is_above_the_window_by_the_margin(
    case: tuple[str, str, str], depth: int, margin: int
) -> None:
    """Reverse futility pruning: the margin grows with depth and is larger in the placing phase."""
    position, capture, other = position_and_moves(*case)
    ahead = men_ahead(position, position.side) + 1
    for worth in (margin, margin - 1):
        count_men(4 * worth)
        first = Search().run(position, depth + 1, [capture])
        both = Search().run(position, depth + 1, [capture, other])
        assert first.score == both.score == worth * ahead
        assert (both.nodes == first.nodes + 1) == (worth == margin)


@pytest.mark.parametrize(
    ("case", "worth", "depth"), [(PLACING, 99, 5), (PLACING, 100, 1), (MOVING, 70, 5)]
)
def test_a_shallow_search_far_above_the_window_prunes_a_placing_node(
    case: tuple[str, str, str], worth: int, depth: int
) -> None:
    """ProbCut: a pruned node's entry has the depth of the search that is four plies shallower."""
    position, capture, other = position_and_moves(*case)
    count_men(4 * worth)
    child, search = after(position, other), Search()
    search.put(child, Entry(0, 0, UPPER))  # Without an entry, its depth would be reduced.
    search.run(position, 6, [capture, other])
    entry = search.get(child)
    assert entry is not None and (entry.depth, entry.bound) == (depth, LOWER)


@pytest.mark.parametrize(("case", "searched"), [(MANY_REPLIES, 5), (FLYING, 48)])
def test_late_quiet_moves_are_pruned_near_the_leaves_unless_men_fly(
    case: tuple[str, str, str], searched: int
) -> None:
    """Late move pruning: the search of a node ends after five quiet moves without improvement."""
    position, capture, other = position_and_moves(*case)
    count_men(400)
    first = Search().run(position, 2, [other]).nodes
    both = Search().run(position, 2, [other, capture]).nodes
    replies = len(core_moves(after(position, capture)))
    # The capture fails high and is searched again with a full window, which prunes nothing.
    assert both - first == (1 + searched) + (1 + replies)


@pytest.mark.parametrize(("depth", "searched"), [(2, 8), (3, 13), (4, 14)])
def test_late_move_pruning_starts_later_at_greater_depth(depth: int, searched: int) -> None:
    """4 + depth ** 2 of the fourteen quiet moves are searched; from depth 4 on, all of them."""
    root = parse_position("O**O@O*@/*@*@O@O*/@*OO***@ w 0 0 0 1", RULES)
    moves = {str(decode_move(move)): move for move in core_moves(root)}
    sound, blunder = moves["d5-d6"], moves["d2-d1"]
    child = after(root, blunder)
    capture = next(m for m in core_moves(child) if str(decode_move(m)) == "d3-d2xg1")
    assert len(core_moves(after(child, capture))) == 14
    count_men(400)
    first = Search().run(root, depth + 2, [sound])
    assert first.score >= 0
    search = Search()
    search.put(child, Entry(0, 0, UPPER, capture))
    both = search.run(root, depth + 2, [sound, blunder])
    # The blunder, the capture, and the replies, none of which regains the man.
    assert both.nodes - first.nodes == 2 + searched


def mills_next(position: Position, side: int) -> set[int]:
    """Return the points on which a side could close a mill if it had the move."""
    to_move = Position.of(position.rules, position.men, position.hands, side)
    return {move.to for move in to_move.legal_moves() if move.removed}


def test_a_forced_answer_is_searched_a_ply_deeper() -> None:
    """Extension: the opponent threatens one mill, and the side to move can close none.

    Leaves are not stored, so a stored reply shows the extension.
    """
    seen = set()
    for position, _ in zip(positions(4, 5, 5), range(400)):
        move = core_moves(position)[0]
        child = after(position, move)
        if child.outcome() is not None:
            continue
        own_mills, threats = mills_next(child, child.side), mills_next(child, position.side)
        search = Search()
        search.run(position, 2, [move])
        replies = [after(child, reply) for reply in core_moves(child)]
        stored = [search.get(reply) for reply in replies if reply.outcome() is None]
        is_forced = len(threats) == 1 and not own_mills
        assert {entry and entry.depth for entry in stored} <= ({1} if is_forced else {None})
        seen.add((min(len(threats), 2), bool(own_mills)))
    assert seen == {(threats, has_mill) for threats in range(3) for has_mill in (False, True)}


def test_late_moves_are_searched_less_deeply() -> None:
    """Late move reductions use the logarithms of depth and move number, also at the root."""

    def reduction(depth: int, number: int) -> int:
        return max(0, int(0.6 + math.log(depth) * math.log(number) / 1.8) - 1)

    child = after(QUIET, FIRST_MOVE)
    ordered = order_of_replies(QUIET, FIRST_MOVE)
    for position, depth, roots, moves in (
        (QUIET, 5, core_moves(QUIET), core_moves(QUIET)), (child, 4, [FIRST_MOVE], ordered)
    ):
        search = Search()
        search.run(QUIET, 5, roots)
        entries = [search.get(after(position, move)) for move in moves]
        depths = [entry and entry.depth for entry in entries]
        assert depths == [depth - 1 - reduction(depth, 1 + at) for at in range(len(moves))]
        assert len({*depths}) > 1


@pytest.mark.parametrize("worth", [23, 24, 25, 97, 400])
def test_a_score_is_the_value_of_the_end_of_its_line(worth: int) -> None:
    """This holds within, above and below the aspiration window, and despite pruning."""
    count_men(4 * worth)
    scores = set()
    for men in ((4, 4, 0), (6, 5, 0), (5, 6, 2)):
        for position, depth in zip(positions(7, *men), [*range(1, 7)] * 3):
            result = Search().run(position, depth)
            end = position
            for move in result.line:
                end = after(end, move)
            if abs(result.score) < core.LEAST_WIN:
                assert result.score == worth * men_ahead(end, position.side)
                scores.add(result.score // worth)
            else:
                assert end.outcome() is not None
                assert core.WIN - abs(result.score) == len(result.line)
    assert len(scores) > 4


# Interrupted searches.


def test_an_interrupted_search_stores_no_wrong_entries(own_weights: None) -> None:
    """It reports the first iterations of a full search; a later search in its table is right."""
    count_men(400)
    for position in (next(positions(9, 5, 5)), next(positions(9, 4, 5, 2))):
        rules, board = core_rules(position.rules), core_board(position)

        def reports(search: Search, node_limit: int) -> list[tuple[int, list[int]]]:
            worker, best_lines = core.SearchWorker(search.table), list[tuple[int, list[int]]]()
            search.table.new_search()

            def report(_: int, lines: list[tuple[int, int, list[int]]]) -> bool:
                best_lines.append((lines[0][0], lines[0][2]))
                return False

            interrupted = worker.run(rules, board, [], core_moves(position), report, max_depth=6,
                                     node_limit=node_limit)
            assert interrupted == bool(node_limit)
            assert not interrupted or worker.nodes == node_limit or len(best_lines) == 1
            return best_lines

        complete = reports(Search(), 0)
        for limit in (*range(2, 40), *range(40, 1000, 37)):
            search = Search()
            interrupted = reports(search, limit)
            assert interrupted == complete[: len(interrupted)]
            for score, line in reports(search, 0):
                end = position
                for move in line:
                    end = after(end, move)
                assert score == 100 * men_ahead(end, position.side)
