# Retrograde analysis, start: the initial value of every state, from its removals and the number of
# its moves within the sector.
#
# Needs retrograde_sector.pxi, retrograde_removals.pxi.

cdef enum:
    # Flags for the values of the removals that a state can make.
    CAN_WIN = 1 << REMOVAL_WINS
    CAN_HOLD = 1 << REMOVAL_HOLDS
    HAS_REMOVAL = 1 << REMOVAL_LOSES
    PLANES = 7               # bits of the number of moves


# Add a settled state to the frontier of a level; set its depth if it is a loss to be listed.
cdef void note_settled(Sector *p, int table, int kind, int level, uint32_t cls,
                       uint32_t rank) noexcept nogil:
    cdef Frontier *frontier = &p.frontier[table][kind][level & 1]
    cdef uint32_t size = frontier.counts[cls]
    assert cls < p.classes and rank < p.size
    # A state is settled only once.
    assert (frontier.bits[<size_t>cls * p.words + (rank >> 6)] >> (rank & 63)) & 1 == 0
    frontier.bits[<size_t>cls * p.words + (rank >> 6)] |= <uint64_t>1 << (rank & 63)
    if size < LIST_SIZE:
        frontier.lists[<size_t>cls * LIST_SIZE + size] = rank
    frontier.counts[cls] = size + 1
    if kind == NEW_LOST and level >= p.least_listed and p.depths[table] != NULL:
        p.depths[table][<size_t>cls * p.size + rank] = level if level < MAX_STORED else MAX_STORED


# Set the initial byte of a state from its flags and the number of its moves within the sector.
cdef inline void start_state(Sector *p, int table, uint32_t cls, uint32_t rank, int flags,
                             int moves) noexcept nogil:
    cdef size_t place = <size_t>cls * p.size + rank
    cdef uint8_t *states = p.states[table]
    assert 0 <= moves and moves + 1 < STATE_LEAST_WON
    if flags & CAN_WIN:
        states[place] = STATE_WON
        note_settled(p, table, NEW_WON, 1, cls, rank)
    elif flags & CAN_HOLD:
        states[place] = moves + 1
    elif moves:
        states[place] = moves
    elif flags & HAS_REMOVAL:
        states[place] = STATE_LOST
        note_settled(p, table, NEW_LOST, 1, cls, rank)
    elif p.rules.blocked_draws:
        states[place] = 1
    else:
        states[place] = STATE_LOST
        note_settled(p, table, NEW_LOST, 0, cls, rank)


# Set the initial values of a block with A to move.
cdef void start_block_a(Sector *p, uint32_t cls, Scratch *s) noexcept nogil:
    cdef const uint32_t *masks = MASKS[p.men[1]]
    cdef const Arc *arc
    cdef const Arc *end = p.arcs + p.first_arc[cls + 1]
    cdef const uint64_t *occupied
    cdef const uint8_t *results
    cdef uint8_t quiet[MAX_EMPTY + 1]
    cdef uint32_t rank, source, word
    cdef uint64_t bits
    cdef int all_quiet = 0, half, bit, i, shift
    memset(quiet, 0, sizeof(quiet))
    arc = p.arcs + p.first_arc[cls]
    while arc != end:
        if not arc.mills:
            quiet[arc.entry] += 1
            all_quiet += 1
        arc += 1
    # A quiet move is legal if B has no man at its entry. Subtract the moves whose entry is
    # occupied; `sums` has their number for each half of B's mask.
    for half in range(2):
        s.sums[half][0] = 0
        for bit in range(p.low if half == 0 else p.empty - p.low):
            for i in range(1 << bit):
                s.sums[half][(1 << bit) + i] = s.sums[half][i] + quiet[bit + half * p.low]
    for rank in range(p.size):
        s.moves[rank] = all_quiet - s.sums[0][masks[rank] & ((1u << p.low) - 1)] - (
            s.sums[1][masks[rank] >> p.low])
    memset(s.flags, 0, p.size)
    arc = p.arcs + p.first_arc[cls]
    while arc != end:
        if arc.mills:
            shift = 2 if arc.mills == 2 and p.rules.each_mill else 0
            results = p.states[1] + <size_t>arc.target * p.size
            occupied = holding_of(p, arc.exit)
            load_halves(p, arc.back, s.map)
            for word in range(p.words):
                bits = ~occupied[word]
                if word == p.words - 1 and p.size & 63:
                    bits &= (<uint64_t>1 << (p.size & 63)) - 1
                while bits:
                    rank = (word << 6) + lowest64(bits)
                    bits &= bits - 1
                    source = rank_of(mapped(p, s.map, masks[rank]), p.men[1])
                    i = (results[rank] >> shift) & 3
                    if i == NO_REMOVAL:
                        s.moves[source] += 1
                    else:
                        s.flags[source] |= 1 << i
        arc += 1
    for rank in range(p.size):
        start_state(p, 0, cls, rank, s.flags[rank], s.moves[rank])


# Increment those of 64 counters that are in a mask. The counters are stored as bit planes.
cdef inline void add_planes(uint64_t *planes, uint64_t mask) noexcept nogil:
    cdef int i = 0
    cdef uint64_t carry
    while mask:
        assert i < PLANES
        carry = planes[i] & mask
        planes[i] ^= mask
        mask = carry
        i += 1


# Write 64 counters as bytes.
cdef inline void write_planes(const uint64_t *planes, uint8_t *out) noexcept nogil:
    cdef int byte, i
    cdef uint64_t eight
    for byte in range(8):
        eight = 0
        for i in range(PLANES):
            eight |= spread_byte((planes[i] >> (8 * byte)) & 0xFF) << i
        for i in range(8):
            out[8 * byte + i] = (eight >> (8 * i)) & 0xFF


# Spread eight bits to the lowest bits of eight bytes.
cdef inline uint64_t spread_byte(uint64_t byte) noexcept nogil:
    byte = (byte | (byte << 28)) & 0x0000000F0000000Full
    byte = (byte | (byte << 14)) & 0x0003000300030003ull
    return (byte | (byte << 7)) & 0x0101010101010101ull


# Set the initial values of a block with B to move, if B has fewer men.
cdef void start_block_b(Sector *p, uint32_t cls, Scratch *s) noexcept nogil:
    cdef const uint32_t *masks = MASKS[p.men[1]]
    cdef const Frame *f = &p.frames[cls]
    cdef uint64_t planes[PLANES]
    cdef uint32_t targets, rank, word, mask
    cdef uint64_t bits, closing, first, second, both
    cdef int origin, to, i
    if p.rules.each_mill:
        load_halves(p, f.point, s.points)
    weigh_removals_of_b(p, cls, s)
    memset(s.flags, 0, p.size)
    for word in range(p.words):
        memset(planes, 0, sizeof(planes))
        for to in range(p.empty):
            targets = f.steps[to]
            while targets:
                origin = lowest(targets)
                targets &= targets - 1
                bits = holding_of(p, origin)[word] & ~holding_of(p, to)[word]
                if bits == 0:
                    continue
                first = closes(p, f, to, 0, origin, word) & bits
                second = closes(p, f, to, 1, origin, word) & bits
                closing = first | second
                both = first & second if p.rules.each_mill else 0
                add_planes(planes, bits & ~closing)
                while closing:
                    i = lowest64(closing)
                    closing &= closing - 1
                    rank = (word << 6) + i
                    mask = masks[rank] ^ (1u << origin) ^ (1u << to)
                    if (both >> i) & 1:
                        i = best_double(p, mapped(p, s.points, mask), f.men)
                    else:
                        i = s.results[rank_of(mask, p.men[1])]
                    if i == NO_REMOVAL:
                        add_planes(planes, <uint64_t>1 << (rank & 63))
                    else:
                        s.flags[rank] |= 1 << i
        write_planes(planes, s.moves + (word << 6))
    for rank in range(p.size):
        start_state(p, 1, cls, rank, s.flags[rank], s.moves[rank])


# Of 64 places, those at which B's men, without the man at `origin` (NO_POINT: all), fill the other
# two points of a line through a point.
cdef inline uint64_t closes(const Sector *p, const Frame *f, int point, int line, int origin,
                            uint32_t word) noexcept nogil:
    cdef uint32_t partners = f.partners[point][line]
    if partners == 0 or (partners >> origin) & 1:
        return 0
    return holding_of(p, lowest(partners))[word] & holding_of(
        p, lowest(partners & (partners - 1)))[word]


# Set the initial values of a block with B to move, if both sides have the same number of men: copy
# the states with A to move, with sides swapped.
cdef void copy_block_b(Sector *p, uint32_t cls, Scratch *s) noexcept nogil:
    cdef const uint32_t *masks = MASKS[p.men[1]]
    cdef uint32_t rank, other, there
    cdef int men = p.men[0], level
    cdef uint8_t *states = p.states[1] + <size_t>cls * p.size
    cdef uint64_t place
    load_halves(p, p.frames[cls].point, s.points)
    for rank in range(p.size):
        other = locate(mapped(p, s.points, masks[rank]), men, p.frames[cls].men, men, &there)
        place = <uint64_t>other * p.size + there
        assert other < p.classes and there < p.size
        s.places[rank] = place
        prefetch(p.states[0] + place)
    for rank in range(p.size):
        place = s.places[rank]
        states[rank] = p.states[0][place]
        if states[rank] == STATE_WON:
            note_settled(p, 1, NEW_WON, 1, cls, rank)
        elif states[rank] == STATE_LOST:
            other = place // p.size
            there = place % p.size
            level = (p.frontier[0][NEW_LOST][1].bits[<size_t>other * p.words + (there >> 6)]
                     >> (there & 63)) & 1
            note_settled(p, 1, NEW_LOST, level, cls, rank)
