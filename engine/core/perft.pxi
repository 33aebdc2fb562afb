# What Python asks of the moves: which are legal, and how many sequences of them there are (perft).
#
# Needs bitboard.pxi, board.pxi, movegen.pxi.


cdef inline int count_generated(const RuleSet *rules, const Board *b) noexcept nogil:
    cdef MoveList list
    generate(rules, b, &list, True, True)
    return list.size


# How many moves `add_closing` makes of one that closes so many mills.
cdef inline int count_removals(const RuleSet *rules, uint32_t opponent, int mills) noexcept nogil:
    cdef uint32_t men = removable(rules, opponent)
    cdef MoveList removals
    if men == 0:
        return 1
    if likely(mills == 1 or not rules.each_mill):
        return count(men)
    return add_double(rules, opponent, removals.moves, NO_POINT, 0) - removals.moves


# How many moves `generate` finds, without a list of them.
cdef inline int count_moves(const RuleSet *rules, const Board *b) noexcept nogil:
    cdef uint32_t empty = ALL & ~(b.own | b.opponent)
    cdef uint32_t left, risky, targets
    cdef int origin, to, mills, total, more
    cdef bint flying
    if unlikely(someone_short(b)):
        return 0
    flying = own_flies(rules, b)
    risky = own_threats(rules, b)
    if b.own_hand:
        total = count(empty)
    elif flying:
        total = count(b.own) * count(empty)
    else:
        total = count_steps(b.own, empty)
    if risky == 0:
        assert total == count_generated(rules, b)
        return total
    more = count_removals(rules, b.opponent, 1) - 1
    left = 1u << NO_POINT if b.own_hand else b.own
    while left:
        origin = lowest(left)
        left &= left - 1
        targets = risky if flying or origin == NO_POINT else risky & NEIGHBOURS[origin]
        while targets:
            to = lowest(targets)
            targets &= targets - 1
            mills = mills_at(b.own & ~(1u << origin), to)
            if mills == 1:
                total += more
            elif mills:
                total += count_removals(rules, b.opponent, 2) - 1
    assert total == count_generated(rules, b)
    return total


cdef uint64_t perft_count(const RuleSet *rules, const Board *b, int depth) noexcept nogil:
    cdef MoveList list
    cdef Board after
    cdef uint64_t total = 0
    cdef int i
    if depth == 1:
        return count_moves(rules, b)
    generate(rules, b, &list, True, True)
    for i in range(list.size):
        make(b, list.moves[i], &after)
        total += perft_count(rules, &after, depth - 1)
    return total


def perft(tuple rules not None, tuple fields not None, int depth):
    cdef RuleSet rule_set = load_rules(rules)
    cdef Board b = load_board(fields)
    cdef uint64_t total = 1
    if not 0 <= depth <= MAX_DEPTH:
        raise ValueError(f"a depth is 0 to {MAX_DEPTH}, not {depth}")
    if depth:
        with nogil:
            total = perft_count(&rule_set, &b, depth)
    return total


def legal_moves(tuple rules not None, tuple fields not None):
    cdef RuleSet rule_set = load_rules(rules)
    cdef Board b = load_board(fields)
    cdef MoveList list
    generate(&rule_set, &b, &list, True, True)
    return [list.moves[i] for i in range(list.size)]


# For tests: what the search checks of moves in its table.
def is_legal_move(tuple rules not None, tuple fields not None, move_t move):
    cdef RuleSet rule_set = load_rules(rules)
    cdef Board b = load_board(fields)
    if move > NO_MOVE:
        raise ValueError(f"a move has 20 bits, not {move}")
    return not someone_short(&b) and is_legal(&rule_set, &b, move)
