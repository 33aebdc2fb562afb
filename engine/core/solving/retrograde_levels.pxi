# Retrograde analysis, levels: the states that were settled at one level determine which states are
# settled at the next level. A level is a depth in plies. Only one thread writes to a block. It
# reads the frontiers of the last level in the blocks that moves from this block lead to.
#
# Needs retrograde_start.pxi.

cdef enum:
    SPARSE = 4               # most states per 64 places for which bitmaps are slower

cdef struct Target:          # the block whose states are updated
    Sector *sector
    int table                # 0: A to move, 1: B to move
    int level
    uint32_t cls
    uint8_t *states


# Update a state of `t` after one of its successors was settled. If the successor is `lost`, the
# state is won. Otherwise the successor is won, and one move fewer is not known to lose.
# `states` is `t.states`. The functions below copy such pointers and sizes to local variables, which
# stay in registers while states are written.
cdef inline void update_state(Target *t, uint8_t *states, uint32_t rank, bint lost) noexcept nogil:
    cdef uint8_t state = states[rank]
    assert rank < t.sector.size and state != STATE_LOST and state != STATE_LEAST_WON
    if lost:
        if state < STATE_LEAST_WON:
            states[rank] = STATE_WON
            note_settled(t.sector, t.table, NEW_WON, t.level, t.cls, rank)
    else:
        state -= 1
        states[rank] = state
        if unlikely(state == 0):
            note_settled(t.sector, t.table, NEW_LOST, t.level, t.cls, rank)


# Clear a block's frontier of two levels ago, so that this level can use its memory.
cdef inline void clear_frontier(const Sector *p, Frontier *frontier, uint32_t cls) noexcept nogil:
    cdef uint32_t i
    cdef uint64_t *bits = frontier.bits + <size_t>cls * p.words
    cdef const uint16_t *list = frontier.lists + <size_t>cls * LIST_SIZE
    if frontier.counts[cls] > LIST_SIZE:
        memset(bits, 0, p.words * sizeof(uint64_t))
    else:
        for i in range(frontier.counts[cls]):
            bits[list[i] >> 6] = 0
    frontier.counts[cls] = 0


# Update the states of `t`, A to move, from which the arc leads to a state of `frontier`, B to move.
# `before` is the mask of B's men in the compressed points before the move.
# `locked_only`: only if no man of B may be removed after the move.
cdef inline void update_by_arc(Target *t, const Arc *arc, const Frontier *frontier, bint lost,
                               bint locked_only, Scratch *s) noexcept nogil:
    cdef const Sector *p = t.sector
    cdef const uint32_t *masks = MASKS[p.men[1]]
    cdef uint32_t size = frontier.counts[arc.target], i, word, mask, before
    cdef const uint16_t *list
    cdef const uint64_t *bits
    cdef const uint64_t *occupied            # places with a man of B where A's man came from
    cdef const uint32_t *high_rank = HIGH_RANK[p.men[1]]
    cdef uint8_t *states = t.states
    cdef uint32_t words = p.words
    cdef uint64_t left
    if size <= LIST_SIZE:
        list = frontier.lists + <size_t>arc.target * LIST_SIZE
        for i in range(size):
            mask = masks[list[i]]
            if (mask >> arc.exit) & 1 or (locked_only and not all_locked(p, arc.target, mask)):
                continue
            before = 0
            while mask:
                before |= 1u << arc.back[lowest(mask)]
                mask &= mask - 1
            update_state(t, states, high_rank[before >> HALF] + LOW_RANK[before & LOW_HALF], lost)
        return
    load_halves(p, arc.back, s.map)
    bits = frontier.bits + <size_t>arc.target * p.words
    occupied = holding_of(p, arc.exit)
    for word in range(words):
        left = bits[word] & ~occupied[word]
        while left:
            mask = masks[(word << 6) + lowest64(left)]
            left &= left - 1
            if locked_only and not all_locked(p, arc.target, mask):
                continue
            before = mapped(p, s.map, mask)
            update_state(t, states, high_rank[before >> HALF] + LOW_RANK[before & LOW_HALF], lost)


# Whether no man of B may be removed from the board at `mask`, because all are in mills.
cdef bint all_locked(const Sector *p, uint32_t cls, uint32_t mask) noexcept nogil:
    return removable(&p.rules, expand(mask, MEMBER[p.men[0]][cls])) == 0


# Compute one level of a block with A to move.
cdef void advance_a(Target *t, Scratch *s) noexcept nogil:
    cdef Sector *p = t.sector
    cdef int last = (t.level - 1) & 1        # index of the last level's frontiers
    cdef const Frontier *won = &p.frontier[1][NEW_WON][last]
    cdef const Frontier *lost = &p.frontier[1][NEW_LOST][last]
    cdef const Arc *arc = p.arcs + p.first_arc[t.cls]
    cdef const Arc *end = p.arcs + p.first_arc[t.cls + 1]
    while arc != end:
        # The removal after a mill leaves the sector, unless no man may be removed.
        if not arc.mills or p.rules.locked_none:
            if won.counts[arc.target]:
                update_by_arc(t, arc, won, False, arc.mills != 0, s)
            if lost.counts[arc.target]:
                update_by_arc(t, arc, lost, True, arc.mills != 0, s)
        arc += 1


# Update the states of `t`, B to move, from which a move leads to the settled state `mask` of the
# same block, A to move. `locked`: no man of A may be removed.
cdef inline void update_predecessors(Target *t, uint32_t mask, bint lost,
                                     bint locked) noexcept nogil:
    cdef const Frame *f = &t.sector.frames[t.cls]
    cdef const uint32_t *high_rank = HIGH_RANK[t.sector.men[1]]
    cdef uint8_t *states = t.states
    cdef uint32_t left = mask, origins, before, without
    cdef int point
    while left:
        point = lowest(left)
        left &= left - 1
        origins = f.steps[point] & ~mask
        if origins == 0 or (not locked and closed_at(f, mask, point)):
            continue
        without = mask ^ (1u << point)
        while origins:
            before = without | (origins & (0 - origins))
            origins &= origins - 1
            update_state(t, states, high_rank[before >> HALF] + LOW_RANK[before & LOW_HALF], lost)


# Update the predecessors of each state of a frontier of the same block, one state after the other.
# This is faster for small frontiers.
cdef void update_by_state(Target *t, const Frontier *frontier, bint lost) noexcept nogil:
    cdef const Sector *p = t.sector
    cdef const uint32_t *masks = MASKS[p.men[1]]
    cdef const uint16_t *list = frontier.lists + <size_t>t.cls * LIST_SIZE
    cdef const uint64_t *bits = frontier.bits + <size_t>t.cls * p.words
    cdef bint locked = removable(&p.rules, p.frames[t.cls].men) == 0
    cdef uint32_t i, word, words = p.words
    cdef uint64_t left
    if frontier.counts[t.cls] <= LIST_SIZE:
        for i in range(frontier.counts[t.cls]):
            update_predecessors(t, masks[list[i]], lost, locked)
        return
    for word in range(words):
        left = bits[word]
        while left:
            update_predecessors(t, masks[(word << 6) + lowest64(left)], lost, locked)
            left &= left - 1


# Whether B's man at a point is in a mill.
cdef inline bint closed_at(const Frame *f, uint32_t mask, int point) noexcept nogil:
    cdef uint32_t first = f.partners[point][0], second = f.partners[point][1]
    return (first and (mask & first) == first) or (second and (mask & second) == second)


# Update the predecessors of all states of a frontier of the same block, one move of B after the
# other, with bitmaps of 64 states. This is faster for large frontiers.
cdef void update_by_move(Target *t, const Frontier *frontier, bint lost, Scratch *s) noexcept nogil:
    cdef const Sector *p = t.sector
    cdef const Frame *f = &p.frames[t.cls]
    cdef const uint32_t *masks = MASKS[p.men[1]]
    cdef const uint64_t *bits = frontier.bits + <size_t>t.cls * p.words
    cdef const uint64_t *with_point
    cdef const uint64_t *with_origin
    cdef bint locked = removable(&p.rules, f.men) == 0
    cdef const uint32_t *high_rank = HIGH_RANK[p.men[1]]
    cdef uint8_t *states = t.states
    cdef int point, origin
    cdef uint32_t word, origins, flip, before, words = p.words
    cdef uint64_t left, any_left
    for point in range(p.empty):
        if f.steps[point] == 0:
            continue
        with_point = holding_of(p, point)
        any_left = 0
        for word in range(words):
            left = bits[word] & with_point[word]
            if left and not locked:
                left &= ~(closes(p, f, point, 0, NO_POINT, word) |
                          closes(p, f, point, 1, NO_POINT, word))
            s.words[word] = left
            any_left |= left
        if any_left == 0:
            continue
        origins = f.steps[point]
        while origins:
            origin = lowest(origins)
            origins &= origins - 1
            with_origin = holding_of(p, origin)
            flip = (1u << point) | (1u << origin)
            for word in range(words):
                left = s.words[word] & ~with_origin[word]
                while left:
                    before = masks[(word << 6) + lowest64(left)] ^ flip
                    left &= left - 1
                    update_state(
                        t, states, high_rank[before >> HALF] + LOW_RANK[before & LOW_HALF], lost)


# Compute one level of a block with B to move.
cdef void advance_b(Target *t, Scratch *s) noexcept nogil:
    cdef Sector *p = t.sector
    cdef const Frontier *frontier
    cdef int kind
    for kind in range(2):
        frontier = &p.frontier[0][kind][(t.level - 1) & 1]
        if frontier.counts[t.cls] == 0:
            continue
        if frontier.counts[t.cls] <= SPARSE * p.words:
            update_by_state(t, frontier, kind == NEW_LOST)
        else:
            update_by_move(t, frontier, kind == NEW_LOST, s)


# Compute one level of one block of a table.
cdef void advance(Sector *p, int table, uint32_t cls, uint64_t *settled, Scratch *s) noexcept nogil:
    cdef Target t
    cdef Frontier *won = &p.frontier[table][NEW_WON][p.level & 1]
    cdef Frontier *lost = &p.frontier[table][NEW_LOST][p.level & 1]
    if p.level > 1:          # At level 1 the frontier already has the states settled by removals.
        if won.counts[cls]:
            clear_frontier(p, won, cls)
        if lost.counts[cls]:
            clear_frontier(p, lost, cls)
    t.sector = p
    t.table = table
    t.level = p.level
    t.cls = cls
    t.states = p.states[table] + <size_t>cls * p.size
    if table == 0:
        advance_a(&t, s)
    else:
        advance_b(&t, s)
    settled[NEW_WON] += won.counts[cls]
    settled[NEW_LOST] += lost.counts[cls]
