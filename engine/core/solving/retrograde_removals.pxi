# Retrograde analysis, removals: the value of the best removal after a mill, from the tables of the
# sectors that removals lead to.
#
# Needs movegen.pxi, probe.pxi, retrograde_sector.pxi.

cdef enum:
    # Values for the side that closed the mill.
    REMOVAL_WINS = 0
    REMOVAL_HOLDS = 1
    REMOVAL_LOSES = 2
    NO_REMOVAL = 3           # no man may be removed: the move stays in the sector


# The value of a removal, from the table's value for the other side, which moves next.
cdef inline int removal_worth(int value) noexcept nogil:
    assert value != UNKNOWN
    return REMOVAL_WINS if value == LOST else REMOVAL_HOLDS if value == DRAWN else REMOVAL_LOSES


# The value of the best removal of two men of `others`, or of one man if no second may be removed.
cdef int best_double(const Sector *p, uint32_t own, uint32_t others) noexcept nogil:
    cdef MoveList list
    cdef Board after
    cdef int i, worth, best = REMOVAL_LOSES
    list.size = add_double(&p.rules, others, list.moves, NO_POINT, 0) - list.moves
    if list.size == 0:
        return NO_REMOVAL
    memset(&after, 0, sizeof(after))
    after.opponent = own
    for i in range(list.size):
        after.own = others & ~removed_men(list.moves[i])
        count_men(&after)
        if own_below_minimum(&after):
            return REMOVAL_WINS
        worth = removal_worth(table_probe(p.tables, &after))
        if worth < best:
            best = worth
            if best == REMOVAL_WINS:
                break
    return best


# Whether one of these men is in two mills.
cdef bint has_crossing(uint32_t men) noexcept nogil:
    cdef uint32_t first, second
    closing_points(men, &first, &second)
    return (first & second & men) != 0


# For each set of B's men in a block, set the value of A's best removal, after A's move has closed a
# mill. Bits 0 and 1 have the value of removing one man, bits 2 and 3 that of removing two men. The
# memory of table 1, which is not needed yet, stores the values.
cdef void weigh_removals_of_a(Sector *p, uint32_t cls, Scratch *s) noexcept nogil:
    cdef uint32_t men = MEMBER[p.men[0]][cls], rank, mask, left, man, others, allowed
    cdef const uint8_t *values = NULL
    cdef uint64_t block = 0
    cdef int remaining = p.men[1] - 1, worth, best
    cdef const uint32_t *masks = MASKS[p.men[1]]
    cdef uint8_t *results = p.states[1] + <size_t>cls * p.size
    cdef bint crossing = p.rules.each_mill and has_crossing(men)
    if in_mills(men) == 0:
        return
    load_halves(p, p.frames[cls].point, s.points)
    if remaining >= MINIMUM_MEN:
        values = p.tables.values[0][remaining][p.men[0]]
        block = <uint64_t>cls * BINOMIAL[p.empty][remaining]
    for rank in range(p.size):
        mask = masks[rank]
        others = mapped(p, s.points, mask)
        allowed = removable(&p.rules, others)
        left = mask if allowed == others else compress(allowed, men)
        if left == 0:
            best = NO_REMOVAL
        elif remaining < MINIMUM_MEN:
            best = REMOVAL_WINS
        else:
            best = REMOVAL_LOSES
            while left:
                man = left & (0 - left)
                left &= left - 1
                worth = removal_worth(value_at(values, block + rank_of(mask ^ man, remaining)))
                if worth < best:
                    best = worth
                    if best == REMOVAL_WINS:
                        break
        if crossing:
            best |= best_double(p, men, others) << 2
        results[rank] = best


# For each set of B's men in a block, set the value of B's best removal of one man of A, after B's
# move has closed a mill.
cdef void weigh_removals_of_b(Sector *p, uint32_t cls, Scratch *s) noexcept nogil:
    cdef const uint32_t *masks = MASKS[p.men[1]]
    cdef const Frame *f = &p.frames[cls]
    cdef uint32_t men = f.men, left = removable(&p.rules, men), after, entry, size, member
    cdef const uint8_t *values = p.tables.values[0][p.men[0] - 1][p.men[1]]
    cdef uint32_t rank, word
    cdef uint64_t with_mill, block
    cdef uint8_t to[MAX_EMPTY]
    cdef int remaining = p.men[0] - 1, k, symmetry, worth
    mark_mills(p, f, s.words)
    memset(s.results, REMOVAL_LOSES if left else NO_REMOVAL, p.size)
    size = BINOMIAL[p.empty + 1][p.men[1]]
    while left:
        after = men & ~(left & (0 - left))
        left &= left - 1
        entry = CLASS_OF[remaining][rank_of(after, remaining)]
        symmetry = symmetry_in(entry)
        member = MEMBER[remaining][class_in(entry)]
        for k in range(p.empty):
            to[k] = count(~member & ((1u << MAPPED[symmetry][f.point[k]]) - 1))
        load_halves(p, to, s.map)
        block = <uint64_t>class_in(entry) * size
        for word in range(p.words):
            with_mill = s.words[word]
            while with_mill:
                rank = (word << 6) + lowest64(with_mill)
                with_mill &= with_mill - 1
                worth = removal_worth(value_at(
                    values, block + rank_of(mapped(p, s.map, masks[rank]), p.men[1])))
                if worth < s.results[rank]:
                    s.results[rank] = worth
                    if worth == REMOVAL_WINS:
                        s.words[word] ^= <uint64_t>1 << (rank & 63)


# Set a bitmap of the places of a block at which B has a mill.
cdef void mark_mills(const Sector *p, const Frame *f, uint64_t *words) noexcept nogil:
    cdef const uint64_t *first
    cdef const uint64_t *second
    cdef const uint64_t *third
    cdef uint32_t partners, word
    cdef int point, line
    memset(words, 0, p.words * sizeof(uint64_t))
    for point in range(p.empty):
        for line in range(2):
            partners = f.partners[point][line]
            # Take each line once, from its lowest point.
            if partners == 0 or partners & ((1u << point) - 1):
                continue
            first = holding_of(p, point)
            second = holding_of(p, lowest(partners))
            third = holding_of(p, lowest(partners & (partners - 1)))
            for word in range(p.words):
                words[word] |= first[word] & second[word] & third[word]
