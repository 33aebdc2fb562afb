# Move ordering: which moves are likely to be best, from what the search has seen of them.
#
# Needs bitboard.pxi, board.pxi, movegen.pxi, search/transposition.pxi, search/parameters.pxi.

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

# A move with its score: bits 32 to 63 the score, 20 to 31 how far before the end of a full list it
# stands, 0 to 19 the move. So of moves with equal scores the first is the greatest.
ctypedef int64_t scored_t

cdef enum:
    PLACE_SHIFT = 20
    AT_ONCE = 4              # moves that are compared without a branch between them
    ROOM_FOR_MOVES = (MAX_PLY + 1) * (MAX_MOVES + AT_ONCE)

cdef scored_t NO_SCORE = <scored_t>1 << 63       # less than any move's

# The moves of all nodes from the root to here, one behind the other.
cdef struct MoveStack:
    MoveList generated       # as the generator leaves them, before they are scored
    scored_t *free           # what the next node may use

cdef enum:
    PICK_TABLE = 0
    PICK_CLOSING = 1
    PICK_QUIET = 2
    PICK_NONE = 3

cdef struct Picker:
    int stage                # what is generated next
    Board after              # the last move
    uint64_t key             # of that board
    bint urgent              # the last move is a killer move, or stops a mill
    bint chosen              # the best of the rest stands at `next` already, and these are its own:
    Board after_next
    uint64_t next_key
    move_t table_move
    uint64_t threats         # of both sides
    MoveStack *stack
    scored_t *moves
    int size
    int next                 # the first that is not yet in order


# Begin with the table's move. With `ahead` it is made at once and the entry of the board after it
# fetched, so that the memory answers while the node is evaluated.
cdef inline void start_picking(Picker *p, MoveStack *stack, const RuleSet *rules,
                               const Table *table, const Board *b, move_t table_move,
                               bint ahead) noexcept nogil:
    p.stage = PICK_TABLE
    p.chosen = False
    p.table_move = table_move
    p.stack = stack
    p.moves = stack.free
    p.size = p.next = 0
    if table_move != NO_MOVE:
        assert is_legal(rules, b, table_move)
        make(b, table_move, &p.after)
        p.key = key_of(rules, &p.after)
        if ahead:
            fetch(table, p.key)


# Generate the moves of a stage; scoring puts them on the stack.
cdef inline void generate_for(Picker *p, const RuleSet *rules, const Board *b,
                              bint closing) noexcept nogil:
    cdef int i
    generate_on(rules, b, <uint32_t>p.threats, &p.stack.generated, closing, not closing)
    p.next = 0
    p.size = p.stack.generated.size
    for i in range(AT_ONCE):
        p.moves[p.size + i] = NO_SCORE
    p.stack.free = p.moves + p.size + AT_ONCE


cdef inline void score_move(Picker *p, int place, int score) noexcept nogil:
    p.moves[place] = score * (<int64_t>1 << 32) + (
        ((MAX_MOVES - place) << PLACE_SHIFT) | p.stack.generated.moves[place])


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
    cdef int bonus = min(depth * depth * HISTORY_BONUS, HISTORY_LIMIT)
    cdef int i
    assert depth > 0 and 0 <= quiet_count <= MAX_QUIETS
    if history.killers[ply][0] != move:
        history.killers[ply][1] = history.killers[ply][0]
        history.killers[ply][0] = move
    reward(history_of(history, ply, move), bonus)
    for i in range(quiet_count):
        reward(history_of(history, ply, quiets[i]), -bonus)


# Order moves that close a mill: first those that remove a man from a line it may still fill.
cdef inline void score_closing(const Board *b, Picker *p) noexcept nogil:
    cdef uint32_t useful = threats_of(b.opponent, ALL & ~(b.own | b.opponent), ALL)
    cdef int i, removed, score
    cdef move_t move
    for i in range(p.size):
        move = p.stack.generated.moves[i]
        score = CLOSING_SCORE
        removed = removed_of(move)
        if removed != NO_POINT and useful:
            score += 4 * (count(PARTNERS[removed][0] & useful)
                          + count(PARTNERS[removed][1] & useful))
        if second_removed_of(move) != NO_POINT:
            score += 16
        score_move(p, i, score)


# Order quiet moves: killers and moves that stop a mill, then by their history.
cdef inline void score_quiets(History *history, int ply, Picker *p) noexcept nogil:
    cdef uint32_t danger = p.threats >> 32
    cdef int i, score
    cdef move_t move
    for i in range(p.size):
        move = p.stack.generated.moves[i]
        if move == history.killers[ply][0]:
            score = KILLER_SCORE + 1
        elif move == history.killers[ply][1]:
            score = KILLER_SCORE
        else:
            score = history_of(history, ply, move)[0]
        if (danger >> to_of(move)) & 1:
            score += KILLER_SCORE
        score_move(p, i, score)


# The moves that remove a man, unordered, on the stack; the caller takes them off it.
cdef inline scored_t *push_removals(MoveStack *stack, const RuleSet *rules, const Board *b,
                                    uint32_t risky, int *size) noexcept nogil:
    cdef scored_t *moves = stack.free
    cdef int i
    generate_on(rules, b, risky, &stack.generated, True, False)
    for i in range(stack.generated.size):
        if is_removal(stack.generated.moves[i]):
            stack.free[0] = stack.generated.moves[i]
            stack.free += 1
    size[0] = stack.free - moves
    return moves


# Swap the best of the moves from `next` on with the one at `next`.
cdef inline void choose(Picker *p) noexcept nogil:
    cdef scored_t best = p.moves[p.next], first, second
    cdef int i, place
    assert 0 <= p.next < p.size <= MAX_MOVES
    for i in range(p.next + 1, p.size, 4):
        first = max(p.moves[i], p.moves[i + 1])
        second = max(p.moves[i + 2], p.moves[i + 3])
        best = max(best, max(first, second))
    place = MAX_MOVES - ((best >> PLACE_SHIFT) & 0xFFF)
    assert p.next <= place < p.size
    p.moves[place] = p.moves[p.next] + ((p.next - place) * (<int64_t>1 << PLACE_SHIFT))
    p.moves[p.next] = best


cdef inline move_t move_at(const Picker *p, int place) noexcept nogil:
    return <move_t>p.moves[place] & NO_MOVE


# The next move in order: the table's, those that close a mill, quiet moves; NO_MOVE at the end. The
# board after it is the picker's. With `ahead` the move after it is chosen and made too, and the
# entries of both boards fetched.
cdef inline move_t pick(const RuleSet *rules, const Table *table, History *history,
                        const Board *b, Picker *p, int ply, bint ahead) noexcept nogil:
    cdef move_t move
    if p.stage == PICK_TABLE:
        p.stage = PICK_CLOSING
        if p.table_move != NO_MOVE:
            return p.table_move
    while True:
        while p.next < p.size:
            if not p.chosen:
                choose(p)
            move = move_at(p, p.next)
            p.urgent = p.moves[p.next] >> 32 >= KILLER_SCORE - MAX_HISTORY_SCORE
            p.next += 1
            if move == p.table_move:
                p.chosen = False
                continue
            if p.chosen:
                p.after = p.after_next
                p.key = p.next_key
                p.chosen = False
            else:
                make(b, move, &p.after)
                p.key = key_of(rules, &p.after)
                if ahead:
                    fetch(table, p.key)
            if ahead and p.next < p.size:
                choose(p)
                p.chosen = True
                make(b, move_at(p, p.next), &p.after_next)
                p.next_key = key_of(rules, &p.after_next)
                fetch(table, p.next_key)
            return move
        if p.stage == PICK_CLOSING:
            p.stage = PICK_QUIET
            if <uint32_t>p.threats:
                generate_for(p, rules, b, True)
                score_closing(b, p)
        elif p.stage == PICK_QUIET:
            p.stage = PICK_NONE
            generate_for(p, rules, b, False)
            score_quiets(history, ply, p)
        else:
            return NO_MOVE
