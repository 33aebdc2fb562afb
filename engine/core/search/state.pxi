# State of one search thread, and the errors that a level adds to the evaluation.
#
# Needs platform.pxi, board.pxi, ends.pxi, movegen.pxi, evaluation/evaluate.pxi,
# tablebase/probe.pxi, search/transposition.pxi, search/movepick.pxi.

cdef enum:
    MOST_PAUSE = 512         # nodes between looks at the limits
    LONG_PAUSE = 1000000     # nanoseconds between them

cdef struct Errors:
    int insight                              # share of the evaluation that is understood, percent
    int greed                                # what a man more is worth besides
    int freedom                              # and a step more
    int noise                                # half-width of a random error in evaluations
    uint64_t seed
    uint32_t overlooked[MAX_PLY + 8]         # points where no move is seen, by ply

cdef struct Worker:
    Game game
    Table *table
    History history
    MoveStack stack
    scored_t *room                           # for the stack
    const Tables *tables                     # the tablebase; NULL: none is asked
    int table_men                            # it is asked for boards with fewer men than this
    uint64_t table_hits
    uint64_t nodes
    uint64_t node_limit
    uint64_t next_look                       # nodes after which the limits are looked at
    uint64_t pause                           # nodes between looks
    int64_t last_look                        # when they were looked at
    const int64_t *deadline                  # nanoseconds; other threads may move it
    bint stopped
    int seldepth
    bint errs                                # whether a level distorts what is seen
    Errors errors
    move_t pv[MAX_PLY + 8][MAX_PLY + 8]
    int pv_length[MAX_PLY + 8]
    int root_depth                           # the iteration's
    int root_size
    move_t root[MAX_MOVES]
    int root_end[MAX_MOVES]                  # where the moves of the same rank end
    int root_value                           # of the move that came first last, and the greatest
    int root_beaten                          # that the others reached when it did
    bint whole_root                          # the first line is chosen from all legal moves
    int reductions[64][64]                   # by depth and move count


# Look at the limits of the search, and set when to look again: sooner where a node takes long, as
# one does that touches new memory, or a table on a disk.
cdef void look_at_limits(Worker *w) noexcept nogil:
    cdef int64_t time = now()
    if w.nodes >= w.node_limit or time >= read_time(w.deadline):
        w.stopped = True
    if time - w.last_look > LONG_PAUSE:
        w.pause = max(w.pause // 8, <uint64_t>1)
    elif w.pause < MOST_PAUSE:
        w.pause *= 2
    w.last_look = time
    w.next_look = min(w.node_limit, w.nodes + w.pause)


# Count another node, whose variation is not known yet. Whether the search must end.
cdef inline bint begin_node(Worker *w, int ply) noexcept nogil:
    w.nodes += 1
    w.pv_length[ply] = 0
    if ply > w.seldepth:
        w.seldepth = ply
    if unlikely(w.nodes >= w.next_look):
        look_at_limits(w)
        return w.stopped
    return False


# The table holds scores that count plies from the node; the search counts them from the root.
cdef inline int score_to_table(int score, int ply) noexcept nogil:
    return score + ply if score >= FAR else score - ply if score <= -FAR else score


cdef inline int score_from_table(int score, int ply) noexcept nogil:
    return score - ply if score >= FAR else score + ply if score <= -FAR else score


# An evaluation as a level has it.
cdef int misjudge(const Errors *e, const Board *b, uint64_t key, int value) noexcept nogil:
    cdef uint32_t empty = ALL & ~(b.own | b.opponent)
    value = value * e.insight // 100
    value += e.greed * (b.own_left - b.opponent_left)
    value += e.freedom * (count_steps(b.own, empty) - count_steps(b.opponent, empty))
    return value + <int>below(mix(key ^ e.seed), 2 * e.noise + 1) - e.noise


# Put a move before the principal variation of the ply after it.
cdef inline void extend_pv(Worker *w, int ply, move_t move) noexcept nogil:
    cdef int i, length = w.pv_length[ply + 1]
    assert 0 <= length and ply + 1 + length <= MAX_PLY + 1
    w.pv[ply][0] = move
    for i in range(length):
        w.pv[ply][i + 1] = w.pv[ply + 1][i]
    w.pv_length[ply] = length + 1


# Whether a level does not see that a move is possible.
cdef inline bint is_overlooked(const Worker *w, move_t move, int ply) noexcept nogil:
    return unlikely(w.errs) and (w.errors.overlooked[ply] >> to_of(move)) & 1


# The static evaluation as the worker's level sees it.
cdef inline int evaluate_node(const Worker *w, const Board *b, uint64_t key) noexcept nogil:
    cdef int value = evaluate_board(&w.game.rules, b)
    if unlikely(w.errs):
        value = misjudge(&w.errors, b, key, value)
    if value > MAX_EVALUATION:
        return MAX_EVALUATION
    return value if value > -MAX_EVALUATION else -MAX_EVALUATION
