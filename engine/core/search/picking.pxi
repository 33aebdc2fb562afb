# Picking moves: one after another in order, the next already made, and its table entry fetched.
#
# Needs search/ordering.pxi, search/transposition.pxi.

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
        assert is_generated(rules, b, table_move)
        make(b, table_move, &p.after)
        p.key = key_of(rules, &p.after)
        if ahead:
            fetch(table, p.key)


# Swap the best of the moves from `next` on with the one at `next`.
cdef inline void choose(Picker *p) noexcept nogil:
    cdef double first = p.moves[p.next].order, second = 0
    cdef scored_t best
    cdef int i, place
    assert 0 <= p.next < p.size <= MAX_MOVES
    for i in range(p.next + 1, p.size, 4):
        first = greater(first, p.moves[i].order)
        second = greater(second, p.moves[i + 1].order)
        first = greater(first, p.moves[i + 2].order)
        second = greater(second, p.moves[i + 3].order)
    best.order = greater(first, second)
    place = MAX_MOVES - ((best.bits >> PLACE_SHIFT) & 0xFFF)
    assert p.next <= place < p.size
    p.moves[place].bits = p.moves[p.next].bits + ((p.next - place) * (<int64_t>1 << PLACE_SHIFT))
    p.moves[p.next] = best


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
            p.urgent = p.moves[p.next].bits >> 32 >= URGENT_SCORE
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
                push_closing(p, rules, b)
        elif p.stage == PICK_QUIET:
            p.stage = PICK_NONE
            push_quiets(p, rules, history, b, ply)
        else:
            return NO_MOVE
