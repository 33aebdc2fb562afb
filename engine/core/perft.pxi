# Legal moves and perft counts for Python.
#
# Needs bitboard.pxi, board.pxi, movegen.pxi.


# For an assertion of the search.
cdef inline int count_generated(const RuleSet *rules, const Board *b) noexcept nogil:
    cdef MoveList list
    generate_all(rules, b, &list)
    return list.size


cdef uint64_t perft_count(const RuleSet *rules, const Board *b, int depth) noexcept nogil:
    cdef MoveList list
    cdef Board after
    cdef uint64_t total = 0
    cdef int i
    generate_all(rules, b, &list)
    if depth == 1:
        return list.size
    for i in range(list.size):
        make(b, list.moves[i], &after)
        total += perft_count(rules, &after, depth - 1)
    return total


def perft(tuple rules not None, tuple fields not None, int depth):
    cdef RuleSet rule_set = load_rules(rules)
    cdef Board b = load_board(fields)
    cdef uint64_t total = 1
    if not 0 <= depth <= MAX_DEPTH:
        raise ValueError(f"expected a depth from 0 to {MAX_DEPTH}, found {depth}")
    if depth:
        with nogil:
            total = perft_count(&rule_set, &b, depth)
    return total


def legal_moves(tuple rules not None, tuple fields not None):
    cdef RuleSet rule_set = load_rules(rules)
    cdef Board b = load_board(fields)
    cdef MoveList list
    generate_all(&rule_set, &b, &list)
    return [list.moves[i] for i in range(list.size)]
