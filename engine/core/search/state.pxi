# The state of one search thread, and the errors of a strength level.
#
# Needs platform.pxi, board.pxi, ends.pxi, movegen.pxi, evaluation/evaluate.pxi,
# tablebase/probe.pxi, search/transposition.pxi, search/movepick.pxi.

cdef enum:
    MAX_CHECK_NODES = 512            # most nodes between two checks of the limits
    CHECK_NANOSECONDS = 1000000      # longest time intended between checks
    REDUCTIONS = 64                  # depths and move counts with reductions of their own

cdef struct Errors:                          # evaluations in hundredths of a man
    int insight                              # percent of the evaluation that counts
    int greed                                # added for each man more than the opponent has
    int freedom                              # added for each step more than the opponent has
    int noise                                # half-width of a random error of the evaluation
    uint64_t seed
    uint32_t overlooked[MAX_PLY + 8]         # points to which all moves are overlooked, by ply

cdef struct Worker:
    Game game
    Table *table
    History history
    MoveStack stack
    scored_t *stack_memory
    const Tables *tables                     # the tablebase, or NULL
    int table_men                            # number of men below which `tables` are probed
    uint64_t table_hits
    uint64_t nodes
    uint64_t node_limit
    uint64_t next_check                      # number of nodes at which limits are checked again
    uint64_t check_interval                  # nodes between checks
    int64_t last_check                       # time of the last check, nanoseconds
    const int64_t *deadline                  # nanoseconds; other threads may change it
    bint stopped
    int seldepth
    bint has_errors                          # whether a strength level's errors apply
    Errors errors
    move_t pv[MAX_PLY + 8][MAX_PLY + 8]
    int pv_length[MAX_PLY + 8]
    int root_depth                           # depth of the iteration, in plies
    int root_size
    move_t root[MAX_MOVES]
    int root_end[MAX_MOVES]                  # index of the end of the moves with the same rank
    int root_value                           # value of the last move that became the best
    int alpha_before_best                    # alpha before that move; -INFINITE if it was the first
    bint whole_root                          # the first line is chosen from all legal moves
    # By depth and move count; greater ones have the last reduction.
    int reductions[REDUCTIONS][REDUCTIONS]


# Check the limits of the search, and set the next check. The next check comes sooner if nodes are
# slow because they touch new memory or a table on a disk.
cdef void check_limits(Worker *w) noexcept nogil:
    cdef int64_t time = now()
    if w.nodes >= w.node_limit or time >= read_time(w.deadline):
        w.stopped = True
    if time - w.last_check > CHECK_NANOSECONDS:
        w.check_interval = max(w.check_interval // 8, <uint64_t>1)
    elif w.check_interval < MAX_CHECK_NODES:
        w.check_interval *= 2
    w.last_check = time
    w.next_check = min(w.node_limit, w.nodes + w.check_interval)


# Count a node and clear its variation; return whether the search must end.
cdef inline bint begin_node(Worker *w, int ply) noexcept nogil:
    w.nodes += 1
    w.pv_length[ply] = 0
    if ply > w.seldepth:
        w.seldepth = ply
    if unlikely(w.nodes >= w.next_check):
        check_limits(w)
        return w.stopped
    return False


# Scores of wins count plies from the node in the transposition table, and from the root in the
# search.
cdef inline int score_to_table(int score, int ply) noexcept nogil:
    return score + ply if score >= LEAST_WIN else score - ply if score <= -LEAST_WIN else score


cdef inline int score_from_table(int score, int ply) noexcept nogil:
    return score - ply if score >= LEAST_WIN else score + ply if score <= -LEAST_WIN else score


# An evaluation with the errors of a strength level.
cdef int distort(const Errors *e, const Board *b, uint64_t key, int value) noexcept nogil:
    cdef uint32_t empty = ALL & ~(b.own | b.opponent)
    value = value * e.insight // 100
    value += e.greed * (b.own_total - b.opponent_total)
    value += e.freedom * (count_steps(b.own, empty) - count_steps(b.opponent, empty))
    return value + <int>below(mix(key ^ e.seed), 2 * e.noise + 1) - e.noise


# Set the principal variation of a ply: a move, then the variation of the next ply.
cdef inline void extend_pv(Worker *w, int ply, move_t move) noexcept nogil:
    cdef int i, length = w.pv_length[ply + 1]
    assert 0 <= length and ply + 1 + length <= MAX_PLY + 1
    w.pv[ply][0] = move
    for i in range(length):
        w.pv[ply][i + 1] = w.pv[ply + 1][i]
    w.pv_length[ply] = length + 1


# Move the root's move at index `i` to the index `start`, which is not greater.
cdef inline void move_forward(Worker *w, int i, int start) noexcept nogil:
    cdef move_t move = w.root[i]
    cdef int j
    for j in range(i, start, -1):
        w.root[j] = w.root[j - 1]
    w.root[start] = move


# Whether a strength level overlooks a move.
cdef inline bint is_overlooked(const Worker *w, move_t move, int ply) noexcept nogil:
    return unlikely(w.has_errors) and (w.errors.overlooked[ply] >> to_of(move)) & 1


# The static evaluation, with the errors of the worker's level, if any.
cdef inline int evaluate_node(const Worker *w, const Board *b, uint64_t key) noexcept nogil:
    cdef int value = evaluate_board(&w.game.rules, b)
    if unlikely(w.has_errors):
        value = distort(&w.errors, b, key, value)
    if value > MAX_EVALUATION:
        return MAX_EVALUATION
    return value if value > -MAX_EVALUATION else -MAX_EVALUATION
