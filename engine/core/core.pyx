"""The compiled core: bitboards, moves, evaluation, transposition table and search.

One extension, assembled from the .pxi files beside it so that everything inlines. Each file holds
one floor and, but for what assertions ask, rests on those included before it. Positions come and
go as plain numbers; the readable face of all this is `merels.engine.search.searcher`.
"""

from merels.engine.game import board

include "bitboard.pxi"
include "movegen.pxi"
include "transposition.pxi"
include "tablebase/index.pxi"
include "tablebase/probe.pxi"
include "evaluate.pxi"
include "assertions.pxi"
include "search.pxi"
include "worker.pxi"
include "tablebase/pair.pxi"
include "tablebase/first.pxi"
include "tablebase/retro.pxi"
include "tablebase/builder.pxi"
include "tablebase/verify.pxi"
include "tablebase/placing.pxi"
include "training/fit.pxi"

load_geometry()
load_patterns()

# What Python has to know of the numbers above.
WIN_SCORE, PROVEN_SCORE, TABLE_WIN_SCORE, FAR_SCORE = WIN, PROVEN, TABLE_WIN, FAR
DEEPEST = MAX_DEPTH
NO_POINT = NOWHERE


# A rule set from the tuple that bridge.py makes of its fields.
cdef RuleSet load_rules(tuple fields) except *:
    cdef RuleSet rules
    (rules.flying, rules.locked_none, rules.each_mill, rules.blocked_draws, rules.repetition,
     rules.no_removal_plies, rules.three_three_plies) = fields
    return rules


# A board from the tuple (own, opponent, own hand, opponent's hand, plies).
cdef Board load_board(tuple fields) except *:
    cdef Board b
    b.own, b.opponent, b.own_hand, b.opponent_hand, b.plies = fields
    assert sound_board(&b)
    return b


def perft(tuple rules, tuple fields, int depth):
    """The number of legal move sequences of ``depth`` plies; the last ply is counted in bulk."""
    cdef RuleSet rule_set = load_rules(rules)
    cdef Board b = load_board(fields)
    cdef uint64_t total
    if depth <= 0:
        return 1
    with nogil:
        total = perft_count(&rule_set, &b, depth)
    return total


def legal_moves(tuple rules, tuple fields):
    """All legal moves as encoded numbers."""
    cdef RuleSet rule_set = load_rules(rules)
    cdef Board b = load_board(fields)
    cdef MoveList list
    generate(&rule_set, &b, &list, True, True)
    return [list.moves[i] for i in range(list.size)]


def evaluate(tuple rules, tuple fields):
    """The static evaluation from the side to move's view, in hundredths of a man."""
    cdef RuleSet rule_set = load_rules(rules)
    cdef Board b = load_board(fields)
    return evaluate_board(&rule_set, &b)


def terms(tuple rules, tuple fields):
    """What each of the parts named in ``PART_NAMES`` is worth, and then all of them together.

    In hundredths of a man, from the side to move's view.
    """
    cdef RuleSet rule_set = load_rules(rules)
    cdef Board b = load_board(fields)
    cdef int at[PARTS]
    cdef int phase = phase_of(&rule_set, &b)
    entries_of(&rule_set, &b, at)
    found = [WEIGHTS.worth[phase][at[i]] / 4 for i in range(PARTS)]
    return [*found, together(at, phase) / (1 << OUTPUT_SHIFT)]


cdef Worker scratch          # for outcome(), which needs a path but no search

_REASONS = ("", "men", "blocked", "three", "norem", "repetition")


def outcome(tuple rules, tuple fields, history):
    """Why the game is over ("": it is not) and the result for the side to move: -1, 0 or 1.

    ``history`` holds the keys of the earlier positions that may recur, oldest first.
    """
    cdef Board b = load_board(fields)
    cdef int value = 0, reason, i
    scratch.rules = load_rules(rules)
    if count(b.own) + b.own_hand >= 3 and someone_short(&b):
        return "men", 1
    history = history[-MAX_HISTORY:]
    scratch.base = len(history)
    for i, key in enumerate(history):
        scratch.path[i] = key
    reason = end_of(&scratch, &b, key_of(&scratch.rules, &b), 0, &value)
    return _REASONS[reason], (value > 0) - (value < 0)
