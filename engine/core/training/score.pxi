# Scores of samples by short searches, and samples from the leaves of critical positions.
#
# Needs board.pxi, movegen.pxi, borrowed.pxi, tablebase/probe.pxi, training/samples.pxi,
# training/draw.pxi, training/fit.pxi.

cdef enum:
    COMPARISON_NODES = 30    # nodes of the search that scores a move, to compare it with others
    CRITICAL = 3             # at most one move in CRITICAL keeps a critical position's value


cdef BoardSearch *borrow_search(worker) except NULL:
    return <BoardSearch *>borrow(worker, core.SearchWorker, "merels.BoardSearch")


def score_samples(worker, tuple rules not None, data, uint64_t nodes, double per_logit):
    cdef BoardSearch *s = borrow_search(worker)
    cdef RuleSet rule_set = load_rules(rules)
    cdef bytearray scored = copy_bytes(data)
    cdef Py_ssize_t i, number = check_samples(span_of(scored))
    cdef uint8_t *out = scored
    cdef Sample sample
    cdef int value
    if not per_logit >= 1:
        raise ValueError(f"expected at least 1 hundredth of a man for a logit, found {per_logit}")
    claim(s.users, "this worker")
    with nogil:
        s.begin(s.worker, &rule_set)
        for i in range(number):
            read_sample(out + SAMPLE_BYTES * i, &sample)
            if sample.score != NO_POINTS or sample.flying != rule_set.flying or (
                    not goes_on(&rule_set, &sample.board)):
                continue
            value = s.search(s.worker, &sample.board, nodes, NULL)
            sample.score = (WHOLE if value >= PROVEN else 0 if value <= -PROVEN
                            else <int>(WHOLE * logistic(<float>(value / per_logit))))
            write_sample(out + SAMPLE_BYTES * i, &sample)
    end_claim(s.users)
    return scored


# The board after a move, with no plies without a removal.
cdef inline void make_without_plies(const Board *b, move_t move, Board *after) noexcept nogil:
    make(b, move, after)
    after.plies = 0


# Set the points of each move from the tables, and the best points. Return whether all are known and
# the board is critical: not lost, and at most one move in CRITICAL keeps its value.
cdef bint is_critical(const Tables *tables, const Board *b, const MoveList *moves, int *points,
                      int *best) noexcept nogil:
    cdef Board after
    cdef int i, holding = 0
    best[0] = 0
    for i in range(moves.size):
        make_without_plies(b, moves.moves[i], &after)
        points[i] = WHOLE
        if goes_on(&tables.rules, &after):
            points[i] = points_of(table_probe(tables, &after))
            if points[i] == NO_POINTS:
                return False
            points[i] = WHOLE - points[i]
        best[0] = max(best[0], points[i])
    for i in range(moves.size):
        holding += points[i] == best[0]
    return best[0] > 0 and CRITICAL * holding <= moves.size


# Set the leaf of a short search. Return False if the search has proven a win or loss, or if the
# game ends at the leaf: its value is then no evaluation.
cdef bint find_leaf(const BoardSearch *s, const RuleSet *rules, const Board *b, uint64_t nodes,
                    Board *leaf) noexcept nogil:
    cdef int value = s.search(s.worker, b, nodes, leaf)
    leaf.plies = 0
    return abs(value) < PROVEN and goes_on(rules, leaf)


# Find the leaves of two searches from a critical board: one after the move of highest score that
# keeps the value, one after the move of highest score that does not. Return the number of leaves.
cdef int critical_leaves(const BoardSearch *s, const Tables *tables, const Board *b, uint64_t nodes,
                         Board *leaves) noexcept nogil:
    cdef MoveList moves
    cdef Board after
    cdef int points[MAX_MOVES]
    cdef Board chosen[2]     # by whether the move holds the value
    cdef int best_value[2]
    cdef int i, best, value, holds, leaf_count = 0
    generate_all(&tables.rules, b, &moves)
    if not is_critical(tables, b, &moves, points, &best):
        return 0
    best_value[0] = best_value[1] = -INFINITE
    for i in range(moves.size):
        make_without_plies(b, moves.moves[i], &after)
        value = INFINITE - 1
        if goes_on(&tables.rules, &after):
            value = -s.search(s.worker, &after, COMPARISON_NODES, NULL)
        holds = points[i] == best
        if value > best_value[holds]:
            best_value[holds] = value
            chosen[holds] = after
    # If the right moves win or the wrong moves lose, the search already separates them.
    if best_value[1] >= PROVEN or best_value[0] <= -PROVEN:
        return 0
    for holds in range(2):
        leaf_count += find_leaf(s, &tables.rules, &chosen[holds], nodes, &leaves[leaf_count])
    return leaf_count


# Write the leaves of the critical samples; return their number.
cdef Py_ssize_t write_leaves(const BoardSearch *s, const Tables *tables, const uint8_t *samples,
                             Py_ssize_t number, uint64_t nodes, uint8_t *out) noexcept nogil:
    cdef Py_ssize_t i, written = 0
    cdef Sample sample
    cdef Board leaves[2]
    cdef int j
    for i in range(number):
        read_sample(samples + SAMPLE_BYTES * i, &sample)
        if sample.flying != tables.rules.flying or not goes_on(&tables.rules, &sample.board):
            continue
        sample.score = sample.result = NO_POINTS
        for j in range(critical_leaves(s, tables, &sample.board, nodes, leaves)):
            sample.board = leaves[j]
            write_sample(out + SAMPLE_BYTES * written, &sample)
            written += 1
    return written


def leaf_samples(tables, worker, data, uint64_t nodes):
    cdef Tables *open_tables = borrow_tables(tables)
    cdef BoardSearch *s = borrow_search(worker)
    cdef _Span samples = span_of(data)
    cdef Py_ssize_t number = check_samples(samples), written = 0
    cdef bytearray leaves = bytearray(2 * SAMPLE_BYTES * number)
    cdef uint8_t *out = leaves
    if nodes < 1:
        raise ValueError(f"expected at least one node, found {nodes}")
    claim(s.users, "this worker")
    try:
        share(&open_tables.users, "the set of tables")
        with nogil:
            s.begin(s.worker, &open_tables.rules)
            written = write_leaves(s, open_tables, samples.start, number, nodes, out)
        end_sharing(&open_tables.users)
    finally:
        end_claim(s.users)
    del leaves[SAMPLE_BYTES * written:]
    return leaves
