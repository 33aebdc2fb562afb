# Move ordering and picking. While a move is searched, the transposition table's bucket for the next
# move is already on its way: the picker makes that move early and prefetches its bucket, unless its
# search will not probe the table.
#
# Needs bitboard.pxi, board.pxi, ends.pxi, movegen.pxi, search/transposition.pxi,
# search/parameters.pxi.

cdef enum:
    CLOSING_SCORE = 1 << 24
    QUIET_SCORE = 1 << 23    # large enough that a scored move, read as a double, is a normal number
    KILLER_SCORE = 1 << 22   # added to QUIET_SCORE
    MAX_HISTORY_SCORE = 1 << 14
    URGENT_SCORE = QUIET_SCORE + KILLER_SCORE - MAX_HISTORY_SCORE
    MAX_QUIETS = 64          # quiet moves of a node that get a malus after a cutoff
    BUTTERFLIES = 32 * 32    # pairs of an origin and a target, NO_POINT included

cdef struct History:
    # Killer moves: the last two quiet moves that cut off at a ply (Akl and Newborn, 1977).
    move_t killers[MAX_PLY + 8][2]
    # Butterfly history: the success of quiet moves by colour and by a move's lowest ten bits,
    # its origin and target (Hartmann, ICCA Journal 11, 1988; Schaeffer, IEEE PAMI 11, 1989).
    int32_t butterfly[2][BUTTERFLIES]
    int side                 # the colour to move at the root, 0 or 1

# Read as a double, scored moves keep their order, and the maximum of two doubles is one instruction
# without a branch.
cdef union scored_t:
    scored_move bits
    double order

cdef enum:
    UNROLL = 4              # moves that are compared without a branch between them
    STACK_SIZE = (MAX_PLY + 1) * (MAX_MOVES + UNROLL)

# A stack with the move lists of all nodes below the root, down to the current one; the worker owns
# its memory.
cdef struct MoveStack:
    MoveList generated       # scratch list: moves that close a mill, as generated
    scored_t *free           # start of the next node's list

cdef enum:
    PICK_TABLE = 0
    PICK_CLOSING = 1
    PICK_QUIET = 2
    PICK_NONE = 3

cdef struct Picker:
    int stage                # the next stage
    Board after              # the board after the last picked move
    uint64_t key             # of that board
    bint urgent              # the last picked move is a killer, or closes or stops a mill; not set
                             # for the table move
    bint next_is_made        # the move at index `next` is the best one left and already made
    Board after_next         # the board after it
    uint64_t next_key        # of that board
    move_t table_move
    uint64_t threats         # lower half: of the side to move, upper: of the opponent
    MoveStack *stack
    scored_t *moves
    int size
    int next                 # index of the first unsorted move


# Set the size of the list on top of the stack, and end it with sentinels of the lowest score.
cdef inline void end_list(Picker *p, int size) noexcept nogil:
    cdef int i
    p.next = 0
    p.size = size
    for i in range(UNROLL):
        p.moves[size + i].order = 0
    p.stack.free = p.moves + size + UNROLL


# The butterfly history of a move at a ply; colours alternate from ply to ply.
cdef inline int32_t *history_of(History *history, int ply, move_t move) noexcept nogil:
    return &history.butterfly[(history.side ^ ply) & 1][move & (BUTTERFLIES - 1)]


# Add a bonus to an entry, scaled down as the entry approaches the limit.
cdef inline void reward(int32_t *entry, int bonus) noexcept nogil:
    cdef int size = bonus if bonus > 0 else -bonus
    entry[0] += bonus - entry[0] * size // MAX_HISTORY_SCORE
    assert -MAX_HISTORY_SCORE <= entry[0] <= MAX_HISTORY_SCORE


# Record that a quiet move caused a cutoff and that the quiet moves before it did not.
cdef inline void record_cutoff(History *history, int ply, int depth, move_t move,
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


# Generate and score the moves that close a mill. First come moves that remove two men, then those
# that remove a man from a line that the opponent could complete if its men flew.
cdef inline void push_closing(Picker *p, const RuleSet *rules, const Board *b) noexcept nogil:
    cdef uint32_t completing = threats_of(b.opponent, ALL & ~(b.own | b.opponent), ALL)
    cdef int i, removed, score
    cdef move_t move
    generate_with_threats(rules, b, <uint32_t>p.threats, &p.stack.generated, True, False)
    for i in range(p.stack.generated.size):
        move = p.stack.generated.moves[i]
        score = CLOSING_SCORE
        removed = removed_of(move)
        if removed != NO_POINT and completing:
            score += 4 * (count(PARTNERS[removed][0] & completing)
                          + count(PARTNERS[removed][1] & completing))
        if second_removed_of(move) != NO_POINT:
            score += 16
        p.moves[i].bits = scored(score, i, move)
    end_list(p, p.stack.generated.size)


# Generate the quiet moves and score them, in one pass, because flying men have many moves. Killers
# and moves that stop a mill come first; history orders the rest.
cdef inline void push_quiets(Picker *p, const RuleSet *rules, History *history, const Board *b,
                             int ply) noexcept nogil:
    cdef uint32_t danger = p.threats >> 32
    cdef int32_t *first = history_of(history, ply, history.killers[ply][0])
    cdef int32_t *second = history_of(history, ply, history.killers[ply][1])
    cdef int first_score = first[0], second_score = second[0], i
    cdef scored_move *end
    assert is_sound(b) and not either_below_minimum(b)
    assert <uint32_t>p.threats == own_threats(rules, b)
    # During generation the history entries of the killers hold their killer scores.
    second[0] = KILLER_SCORE
    first[0] = KILLER_SCORE + 1
    end = add_moves[scored_move](rules, b, <uint32_t>p.threats, &p.moves[0].bits,
                                 scored(QUIET_SCORE, 0, 0), history_of(history, ply, 0),
                                 False, True)
    second[0] = second_score
    first[0] = first_score
    end_list(p, end - &p.moves[0].bits)
    if danger:
        for i in range(p.size):
            p.moves[i].bits += ((danger >> to_of(<move_t>p.moves[i].bits)) & 1) * (
                <int64_t>KILLER_SCORE << 32)


cdef inline move_t move_at(const Picker *p, int index) noexcept nogil:
    return <move_t>p.moves[index].bits & NO_MOVE


# Start with the table move, if any: make it. `ahead`: prefetch the bucket of the board after it.
cdef inline void start_picking(Picker *p, MoveStack *stack, const RuleSet *rules,
                               const Table *table, const Board *b, move_t table_move,
                               bint ahead) noexcept nogil:
    p.stage = PICK_TABLE
    p.next_is_made = False
    p.table_move = table_move
    p.stack = stack
    p.moves = stack.free
    p.size = p.next = 0
    if table_move != NO_MOVE:
        assert is_generated(rules, b, table_move)
        make(b, table_move, &p.after)
        p.key = key_of(rules, &p.after)
        if ahead:
            prefetch_bucket(table, p.key)


# Swap the best remaining move to index `next`.
cdef inline void choose(Picker *p) noexcept nogil:
    cdef double first = p.moves[p.next].order, second = 0
    cdef scored_t best
    cdef int i, index
    assert 0 <= p.next < p.size <= MAX_MOVES
    for i in range(p.next + 1, p.size, 4):  # UNROLL, as Cython needs a literal.
        first = greater(first, p.moves[i].order)
        second = greater(second, p.moves[i + 1].order)
        first = greater(first, p.moves[i + 2].order)
        second = greater(second, p.moves[i + 3].order)
    best.order = greater(first, second)
    index = MAX_MOVES - ((best.bits >> INDEX_SHIFT) & 0xFFF)
    assert p.next <= index < p.size
    p.moves[index].bits = p.moves[p.next].bits + ((p.next - index) * (<int64_t>1 << INDEX_SHIFT))
    p.moves[p.next] = best


# The next move in order: the table move, moves that close a mill, quiet moves; NO_MOVE at the end.
# `p.after` is the board after this move. `ahead`: also choose and make the next move of the same
# list, and prefetch the buckets of the boards after both moves.
cdef inline move_t pick(const RuleSet *rules, const Table *table, History *history,
                        const Board *b, Picker *p, int ply, bint ahead) noexcept nogil:
    cdef move_t move
    if p.stage == PICK_TABLE:
        p.stage = PICK_CLOSING
        if p.table_move != NO_MOVE:
            return p.table_move
    while True:
        while p.next < p.size:
            if not p.next_is_made:
                choose(p)
            move = move_at(p, p.next)
            p.urgent = p.moves[p.next].bits >> 32 >= URGENT_SCORE
            p.next += 1
            if move == p.table_move:
                p.next_is_made = False
                continue
            if p.next_is_made:
                p.after = p.after_next
                p.key = p.next_key
                p.next_is_made = False
            else:
                make(b, move, &p.after)
                p.key = key_of(rules, &p.after)
                if ahead:
                    prefetch_bucket(table, p.key)
            if ahead and p.next < p.size:
                choose(p)
                p.next_is_made = True
                make(b, move_at(p, p.next), &p.after_next)
                p.next_key = key_of(rules, &p.after_next)
                prefetch_bucket(table, p.next_key)
            return move
        if p.stage == PICK_CLOSING:
            p.stage = PICK_QUIET
            if <uint32_t>p.threats:
                push_closing(p, rules, b)
        elif p.stage == PICK_QUIET:
            p.stage = PICK_NONE
            push_quiets(p, rules, history, b, ply)
        else:
            return NO_MOVE


# Push the moves that remove a man, unordered, on the stack; the caller pops them.
cdef inline scored_t *push_removals(MoveStack *stack, const RuleSet *rules, const Board *b,
                                    uint32_t threats, int *size) noexcept nogil:
    cdef scored_t *moves = stack.free
    cdef int i
    generate_with_threats(rules, b, threats, &stack.generated, True, False)
    for i in range(stack.generated.size):
        if is_removal(stack.generated.moves[i]):
            stack.free.bits = stack.generated.moves[i]
            stack.free += 1
    size[0] = stack.free - moves
    return moves
