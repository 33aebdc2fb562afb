# Retrograde analysis, second part: level by level, from the states settled at one level to those
# that they settle at the next. A level is a ply; a block is written by one thread only, which
# reads the last level's news of the blocks its moves lead to.

cdef enum:
    STAGE_REMOVALS = 0       # weigh A's removals
    STAGE_FIRST_A = 1
    STAGE_FIRST_B = 2
    STAGE_LEVEL = 3
    STAGE_PACK = 4

cdef enum:
    MANY_A_WORD = 4          # news of a block, of 64 places, from which 64 at a time is faster

cdef struct Target:          # the block that is written
    Pair *pair
    int table
    int level
    uint32_t found
    uint8_t *states


# A move of a state is now known to win (`lost`: its successor is) or to lose. The states' address
# is handed over apart from the target, so that it stays in a register.
cdef inline void settle(Target *t, uint8_t *states, uint32_t at, bint lost) noexcept nogil:
    cdef uint8_t state = states[at]
    assert at < t.pair.size and state != STATE_LOST and state != STATE_OPEN_END
    if lost:
        if state < STATE_OPEN_END:
            states[at] = STATE_WON
            add_news(t.pair, t.table, NEWS_WON, t.level, t.found, at)
    else:
        state -= 1
        states[at] = state
        if unlikely(state == 0):
            add_news(t.pair, t.table, NEWS_LOST, t.level, t.found, at)


# Empty a block's news of two levels ago, whose place this level takes.
cdef inline void clear_news(const Pair *p, News *news, uint32_t found) noexcept nogil:
    cdef uint32_t i
    cdef uint64_t *bits = news.bits + <size_t>found * p.words
    cdef const uint16_t *list = news.lists + <size_t>found * FEW
    if news.counts[found] > FEW:
        memset(bits, 0, p.words * sizeof(uint64_t))
    else:
        for i in range(news.counts[found]):
            bits[list[i] >> 6] = 0
    news.counts[found] = 0


# Carry the news of one block with B to move back over one move of A.
cdef inline void back_over_arc(Target *t, const Arc *arc, const News *news, bint lost,
                               bint locked_only, Scratch *s) noexcept nogil:
    cdef const Pair *p = t.pair
    cdef const uint32_t *masks = MASKS[p.men[1]]
    cdef uint32_t size = news.counts[arc.target], i, word, mask, to
    cdef const uint16_t *list
    cdef const uint64_t *bits
    cdef const uint64_t *taken
    cdef const uint32_t *start = START[p.men[1]]
    cdef uint8_t *states = t.states
    cdef int shift = p.low
    cdef uint32_t low = (1u << shift) - 1, words = p.words
    cdef uint64_t left
    if size <= FEW:
        list = news.lists + <size_t>arc.target * FEW
        for i in range(size):
            mask = masks[list[i]]
            if (mask >> arc.exit) & 1 or (locked_only and not all_locked(p, arc.target, mask)):
                continue
            to = 0
            while mask:
                to |= 1u << arc.back[lowest(mask)]
                mask &= mask - 1
            settle(t, states, start[to >> HALF] + LOW_RANK[to & LOW_HALF], lost)
        return
    load_map(p, arc.back, s)
    bits = news.bits + <size_t>arc.target * p.words
    taken = holding_of(p, arc.exit)
    for word in range(words):
        left = bits[word] & ~taken[word]
        while left:
            mask = masks[(word << 6) + lowest64(left)]
            left &= left - 1
            if locked_only and not all_locked(p, arc.target, mask):
                continue
            to = s.map[0][mask & low] | s.map[1][mask >> shift]
            settle(t, states, start[to >> HALF] + LOW_RANK[to & LOW_HALF], lost)


# Whether none of B's men may be taken.
cdef bint all_locked(const Pair *p, uint32_t found, uint32_t mask) noexcept nogil:
    return removable(&p.rules, expand(mask, MEMBER[p.men[0]][found])) == 0


# One level of a block with A to move.
cdef void advance_a(Target *t, Scratch *s) noexcept nogil:
    cdef Pair *p = t.pair
    cdef int before = (t.level - 1) & 1
    cdef const News *won = &p.news[1][NEWS_WON][before]
    cdef const News *lost = &p.news[1][NEWS_LOST][before]
    cdef const Arc *arc = p.arcs + p.first_arc[t.found]
    cdef const Arc *end = p.arcs + p.first_arc[t.found + 1]
    while arc != end:
        # A move that closes a mill takes a man, and so leaves the pair, unless all are locked.
        if not arc.mills or p.rules.locked_none:
            if won.counts[arc.target]:
                back_over_arc(t, arc, won, False, arc.mills != 0, s)
            if lost.counts[arc.target]:
                back_over_arc(t, arc, lost, True, arc.mills != 0, s)
        arc += 1


# Carry one state of the same block, A to move, back over B's moves.
cdef inline void back_from(Target *t, uint32_t mask, bint lost, bint locked) noexcept nogil:
    cdef const Frame *f = &t.pair.frames[t.found]
    cdef const uint32_t *start = START[t.pair.men[1]]
    cdef uint8_t *states = t.states
    cdef uint32_t left = mask, targets, to, without
    cdef int point
    while left:
        point = lowest(left)
        left &= left - 1
        targets = f.near[point] & ~mask
        if targets == 0 or (not locked and closed_at(f, mask, point)):
            continue
        without = mask ^ (1u << point)
        while targets:
            to = without | (targets & (0 - targets))
            targets &= targets - 1
            settle(t, states, start[to >> HALF] + LOW_RANK[to & LOW_HALF], lost)


# Carry not too many news of the same block back, state by state.
cdef void back_by_state(Target *t, const News *news, bint lost) noexcept nogil:
    cdef const Pair *p = t.pair
    cdef const uint32_t *masks = MASKS[p.men[1]]
    cdef const uint16_t *list = news.lists + <size_t>t.found * FEW
    cdef const uint64_t *bits = news.bits + <size_t>t.found * p.words
    cdef bint locked = removable(&p.rules, p.frames[t.found].men) == 0
    cdef uint32_t i, word, words = p.words
    cdef uint64_t left
    if news.counts[t.found] <= FEW:
        for i in range(news.counts[t.found]):
            back_from(t, masks[list[i]], lost, locked)
        return
    for word in range(words):
        left = bits[word]
        while left:
            back_from(t, masks[(word << 6) + lowest64(left)], lost, locked)
            left &= left - 1


# Whether B's man at a point stands in a mill.
cdef inline bint closed_at(const Frame *f, uint32_t mask, int point) noexcept nogil:
    cdef uint32_t first = f.partners[point][0], second = f.partners[point][1]
    return (first and (mask & first) == first) or (second and (mask & second) == second)


# The same for many news: move by move, 64 states at a time as far as they go together.
cdef void back_in_block(Target *t, const News *news, bint lost, Scratch *s) noexcept nogil:
    cdef const Pair *p = t.pair
    cdef const Frame *f = &p.frames[t.found]
    cdef const uint32_t *masks = MASKS[p.men[1]]
    cdef const uint64_t *bits = news.bits + <size_t>t.found * p.words
    cdef const uint64_t *here
    cdef const uint64_t *there
    cdef bint locked = removable(&p.rules, f.men) == 0
    cdef const uint32_t *start = START[p.men[1]]
    cdef uint8_t *states = t.states
    cdef int point, target
    cdef uint32_t word, targets, flip, to, words = p.words
    cdef uint64_t left, any_left
    for point in range(p.empty):
        if f.near[point] == 0:
            continue
        here = holding_of(p, point)
        any_left = 0
        for word in range(p.words):
            left = bits[word] & here[word]
            if left and not locked:
                left &= ~(closes(p, f, point, 0, 31, word) | closes(p, f, point, 1, 31, word))
            s.words[word] = left
            any_left |= left
        if any_left == 0:
            continue
        targets = f.near[point]
        while targets:
            target = lowest(targets)
            targets &= targets - 1
            there = holding_of(p, target)
            flip = (1u << point) | (1u << target)
            for word in range(words):
                left = s.words[word] & ~there[word]
                while left:
                    to = masks[(word << 6) + lowest64(left)] ^ flip
                    left &= left - 1
                    settle(t, states, start[to >> HALF] + LOW_RANK[to & LOW_HALF], lost)


# One level of a block with B to move.
cdef void advance_b(Target *t, Scratch *s) noexcept nogil:
    cdef Pair *p = t.pair
    cdef const News *news
    cdef int kind
    for kind in range(2):
        news = &p.news[0][kind][(t.level - 1) & 1]
        if news.counts[t.found] == 0:
            continue
        if news.counts[t.found] <= MANY_A_WORD * p.words:
            back_by_state(t, news, kind == NEWS_LOST)
        else:
            back_in_block(t, news, kind == NEWS_LOST, s)


# One level of one block of one table.
cdef void advance(Pair *p, int table, uint32_t found, uint64_t *settled, Scratch *s) noexcept nogil:
    cdef Target t
    cdef News *won = &p.news[table][NEWS_WON][p.level & 1]
    cdef News *lost = &p.news[table][NEWS_LOST][p.level & 1]
    if p.level > 1:          # the first level adds to the news that the removals made
        if won.counts[found]:
            clear_news(p, won, found)
        if lost.counts[found]:
            clear_news(p, lost, found)
    t.pair = p
    t.table = table
    t.level = p.level
    t.found = found
    t.states = p.states[table] + <size_t>found * p.size
    if table == 0:
        advance_a(&t, s)
    else:
        advance_b(&t, s)
    settled[NEWS_WON] += won.counts[found]
    settled[NEWS_LOST] += lost.counts[found]


cdef inline int value_of_state(int state) noexcept nogil:
    return LOST * (state == STATE_LOST) + WON * (state >= STATE_OPEN_END)


# Turn the states of some places into bytes of the table; the first place is a multiple of four.
cdef void pack(const uint8_t *states, uint64_t place, uint64_t end, uint8_t *packed) noexcept nogil:
    cdef int value, shift
    assert (place & 3) == 0
    while place + 4 <= end:
        packed[place >> 2] = (value_of_state(states[place])
                              | value_of_state(states[place + 1]) << 2
                              | value_of_state(states[place + 2]) << 4
                              | value_of_state(states[place + 3]) << 6)
        place += 4
    if place < end:
        value = shift = 0
        while place + (shift >> 1) < end:
            value |= value_of_state(states[place + (shift >> 1)]) << shift
            shift += 2
        packed[place >> 2] = value


# Count a block's values, each canonical state once.
cdef void tally(const Pair *p, int table, uint32_t found, uint64_t *counts,
                Scratch *s) noexcept nogil:
    cdef const uint8_t *states = p.states[table] + <size_t>found * p.size
    cdef uint32_t men = MEMBER[p.men[0]][found], rank, others, won = 0, lost = 0
    cdef int same[SYMMETRY_COUNT]
    cdef int symmetry, size = 0, i
    for symmetry in range(1, SYMMETRY_COUNT):
        if image_of(symmetry, men) == men:
            same[size] = symmetry
            size += 1
    if size == 0:
        for rank in range(p.size):
            lost += states[rank] == STATE_LOST
            won += states[rank] >= STATE_OPEN_END
        counts[LOST] += lost
        counts[WON] += won
        counts[DRAWN] += p.size - won - lost
        return
    load_points(p, &p.frames[found], s)
    for rank in range(p.size):
        others = on_board(p, s, MASKS[p.men[1]][rank])
        for i in range(size):
            if rank_of(compress(image_of(same[i], others), men), p.men[1]) < rank:
                break
        else:
            counts[value_of_state(states[rank])] += 1


# Work on the pair's present stage, a few blocks at a time, until none is left or it is stopped.
cdef void work_on(Pair *p, Scratch *s) noexcept nogil:
    cdef uint64_t settled[2][4]
    cdef uint64_t item, first, last, found
    cdef uint64_t pieces = (p.classes + PIECE - 1) // PIECE
    cdef int tables = 2 if p.stage == STAGE_LEVEL or p.stage == STAGE_PACK else 1
    cdef int table, i
    memset(settled, 0, sizeof(settled))
    while not read_shared(&p.stop):
        item = fetch_add(&p.next, 1)
        if item >= pieces * tables:
            break
        table = item >= pieces
        first = (item - table * pieces) * PIECE
        last = first + PIECE if first + PIECE < p.classes else p.classes
        if p.stage == STAGE_PACK:
            pack(p.states[table], first * p.size, last * p.size, p.packed[table])
        for found in range(first, last):
            if p.stage == STAGE_LEVEL:
                advance(p, table, found, settled[table], s)
            elif p.stage == STAGE_PACK:
                tally(p, table, found, settled[table], s)
            elif p.stage == STAGE_REMOVALS:
                weigh_removals_of_a(p, found, s)
            elif p.stage == STAGE_FIRST_A:
                start_block_a(p, found, s)
            elif p.men[0] == p.men[1]:
                copy_block_b(p, found, s)
            else:
                start_block_b(p, found, s)
    for table in range(2):
        for i in range(4):
            fetch_add(&p.settled[table][i], settled[table][i])
