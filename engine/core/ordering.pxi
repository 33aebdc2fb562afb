# Move ordering: which moves are likely to be best, from what the search has seen of them.
#
# Needs bitboard.pxi, board.pxi, movegen.pxi, transposition.pxi.

cdef enum:
    CLOSING_SCORE = 1 << 24
    KILLER_SCORE = 1 << 22
    MAX_HISTORY_SCORE = 1 << 14
    MAX_QUIETS = 64          # quiet moves of a node whose failure is remembered

cdef struct History:
    # Killer moves: the last two quiet moves that cut off at a ply (Akl and Newborn, 1977).
    move_t killers[MAX_PLY + 8][2]
    # Butterfly history: the success of quiet moves by side, origin and point (Hartmann, ICCA
    # Journal 11, 1988; Schaeffer, IEEE PAMI 11, 1989). Placements have an origin of their own.
    int32_t butterfly[2][POINT_COUNT + 1][POINT_COUNT]

cdef struct ScoredMoves:
    MoveList list
    int32_t scores[MAX_MOVES]
    int next                 # the first that is not yet in order

cdef enum:
    PICK_TABLE = 0
    PICK_CLOSING = 1
    PICK_QUIET = 2

cdef struct Picker:
    int stage                # what is generated next
    bint chosen              # the best of the rest stands at `next` already
    move_t table_move
    ScoredMoves moves


# The butterfly history of a move at a ply: both sides' plies alternate.
cdef inline int32_t *history_of(History *history, int ply, move_t move) noexcept nogil:
    cdef int origin = origin_of(move)
    return &history.butterfly[ply & 1][origin if origin != NO_POINT else POINT_COUNT][to_of(move)]


# Move an entry towards the end that a bonus points to, by less the nearer it is.
cdef inline void reward(int32_t *entry, int bonus) noexcept nogil:
    cdef int size = bonus if bonus > 0 else -bonus
    entry[0] += bonus - entry[0] * size // MAX_HISTORY_SCORE
    assert -MAX_HISTORY_SCORE <= entry[0] <= MAX_HISTORY_SCORE


# Remember that a quiet move cut off, and that those searched before it did not.
cdef inline void remember_cutoff(History *history, int ply, int depth, move_t move,
                                 const move_t *quiets, int quiet_count) noexcept nogil:
    cdef int bonus = depth * depth * 8
    cdef int i
    assert depth > 0 and 0 <= quiet_count <= MAX_QUIETS
    if bonus > 2048:
        bonus = 2048
    if history.killers[ply][0] != move:
        history.killers[ply][1] = history.killers[ply][0]
        history.killers[ply][0] = move
    reward(history_of(history, ply, move), bonus)
    for i in range(quiet_count):
        reward(history_of(history, ply, quiets[i]), -bonus)


# Order moves that close a mill: first those that remove a man from a line it may still fill.
cdef inline void score_closing(const Board *b, ScoredMoves *moves) noexcept nogil:
    cdef uint32_t useful = threats_of(b.opponent, ALL & ~(b.own | b.opponent), ALL)
    cdef int i, removed
    for i in range(moves.list.size):
        moves.scores[i] = CLOSING_SCORE
        removed = removed_of(moves.list.moves[i])
        if removed != NO_POINT and useful:
            moves.scores[i] += 4 * (count(PARTNERS[removed][0] & useful)
                                    + count(PARTNERS[removed][1] & useful))
        if second_removed_of(moves.list.moves[i]) != NO_POINT:
            moves.scores[i] += 16


# Order quiet moves: killers and moves that stop a mill, then by their history.
cdef inline void score_quiets(const RuleSet *rules, const Board *b, History *history, int ply,
                              ScoredMoves *moves) noexcept nogil:
    cdef uint32_t danger = threats_on(rules, b) >> 32
    cdef int i
    cdef move_t move
    for i in range(moves.list.size):
        move = moves.list.moves[i]
        if move == history.killers[ply][0]:
            moves.scores[i] = KILLER_SCORE + 1
        elif move == history.killers[ply][1]:
            moves.scores[i] = KILLER_SCORE
        else:
            moves.scores[i] = history_of(history, ply, move)[0]
        if (danger >> to_of(move)) & 1:
            moves.scores[i] += KILLER_SCORE


# Swap the best of the moves from `next` on with the one at `next`.
cdef inline void choose(ScoredMoves *moves) noexcept nogil:
    cdef int i, best = moves.next
    cdef move_t move
    cdef int32_t score
    assert 0 <= moves.next < moves.list.size <= MAX_MOVES
    for i in range(moves.next + 1, moves.list.size):
        if moves.scores[i] > moves.scores[best]:
            best = i
    move = moves.list.moves[best]
    score = moves.scores[best]
    moves.list.moves[best] = moves.list.moves[moves.next]
    moves.scores[best] = moves.scores[moves.next]
    moves.list.moves[moves.next] = move
    moves.scores[moves.next] = score


# The next move in order: the table's, those that close a mill, quiet moves; NO_MOVE at the end.
# With `ahead` the move after it is chosen too and its table entry fetched.
cdef inline move_t pick(const RuleSet *rules, const Table *table, History *history,
                        const Board *b, Picker *p, int ply, bint ahead) noexcept nogil:
    cdef ScoredMoves *moves = &p.moves
    cdef move_t move
    cdef Board after
    if p.stage == PICK_TABLE:
        p.stage = PICK_CLOSING
        p.chosen = False
        moves.next = moves.list.size = 0
        if p.table_move != NO_MOVE:
            assert is_legal(rules, b, p.table_move)
            return p.table_move
    while True:
        while moves.next < moves.list.size:
            if not p.chosen:
                choose(moves)
            p.chosen = False
            move = moves.list.moves[moves.next]
            moves.next += 1
            if move == p.table_move:
                continue
            if ahead and moves.next < moves.list.size:
                choose(moves)
                p.chosen = True
                make(b, moves.list.moves[moves.next], &after)
                fetch(table, key_of(rules, &after))
            return move
        if p.stage == PICK_CLOSING:
            generate(rules, b, &moves.list, True, False)
            score_closing(b, moves)
        elif p.stage == PICK_QUIET:
            generate(rules, b, &moves.list, False, True)
            score_quiets(rules, b, history, ply, moves)
        else:
            return NO_MOVE
        p.stage += 1
        moves.next = 0
