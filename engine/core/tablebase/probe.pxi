# Probing of open tables for values; depths.pxi searches for depths.
#
# Needs board.pxi, movegen.pxi, index.pxi, blocks.pxi.

cdef enum:
    # The two bits at a place: the value for the side to move.
    DRAWN = 0
    WON = 1
    LOST = 2
    UNKNOWN = 3              # not stored: no table, or its block is damaged

cdef struct Tables:
    RuleSet rules
    int users                # see platform.pxi
    # Indexed by the men in hand of both sides together (0 is the moving phase), the side to move's
    # men on the board, and the opponent's; NULL: no table. Only the moving phase has depths.
    const uint8_t *values[2 * MEN_PER_SIDE + 1][MEN_PER_SIDE + 1][MEN_PER_SIDE + 1]
    const uint8_t *depths[MEN_PER_SIDE + 1][MEN_PER_SIDE + 1]
    const Packed *packed[2 * MEN_PER_SIDE + 1][MEN_PER_SIDE + 1][MEN_PER_SIDE + 1]


# Whether there is a table for these numbers of men, which must pass `are_counts`.
cdef inline bint has_table(const Tables *tables, int own, int opponent, int hand) noexcept nogil:
    return (tables.values[hand][own][opponent] != NULL
            or tables.packed[hand][own][opponent] != NULL)


# The greatest number of men, those in hand included, of any table; 0: there are no tables.
cdef inline int most_men(const Tables *tables) noexcept nogil:
    cdef int hand, own, opponent, most = 0
    for hand in range(2 * MEN_PER_SIDE + 1):
        for own in range(MEN_PER_SIDE + 1):
            for opponent in range(MEN_PER_SIDE + 1):
                if hand + own + opponent > most and has_table(tables, own, opponent, hand):
                    most = hand + own + opponent
    return most


cdef inline int value_at(const uint8_t *values, uint64_t place) noexcept nogil:
    return (values[place >> 2] >> (2 * (place & 3))) & 3


# The stored value of a board, or UNKNOWN.
cdef inline int stored_value(const Tables *tables, const Board *b) noexcept nogil:
    cdef int own = count(b.own), opponent = count(b.opponent)
    cdef int hand = b.own_hand + b.opponent_hand
    cdef const uint8_t *values = tables.values[hand][own][opponent]
    cdef const Packed *packed
    # White and Black place in turn, so hands differ by at most one man. A position that was set up
    # may have other hands; it is in no table.
    if b.own_hand - b.opponent_hand != hand & 1:
        return UNKNOWN
    if likely(values != NULL):
        return value_at(values, place_of(b.own, own, b.opponent, opponent, hand))
    packed = tables.packed[hand][own][opponent]
    if packed == NULL:
        return UNKNOWN
    return packed_value(packed, place_of(b.own, own, b.opponent, opponent, hand))


# The best value of a board's moves; UNKNOWN if a move's value is unknown and no move wins.
cdef int look_ahead(const Tables *tables, const Board *b) noexcept nogil:
    cdef int i, value, closing, best = LOST
    cdef MoveList list
    cdef Board after
    for closing in range(1, -1, -1):
        # Moves that close a mill come first: they are few and win most often.
        generate(&tables.rules, b, &list, closing, not closing)
        for i in range(list.size):
            make(b, list.moves[i], &after)
            value = LOST if own_below_minimum(&after) else known_value(tables, &after)
            if value == LOST:
                return WON
            if value == UNKNOWN or (value == DRAWN and best == LOST):
                best = value
    return best


# The value of a board on which each side has at least three men, those in hand included.
cdef int known_value(const Tables *tables, const Board *b) noexcept nogil:
    cdef int value = stored_value(tables, b)
    if value == UNKNOWN and b.own_hand == b.opponent_hand + 1:
        # Positions with an odd number of men in hand are not stored, but their children are.
        return look_ahead(tables, b)
    return value


# The value of a board for the side to move, or UNKNOWN. In the moving phase it is the value with
# no ply played since the last removal.
cdef int table_probe(const Tables *tables, const Board *b) noexcept nogil:
    assert is_sound(b)
    if unlikely(either_below_minimum(b)):
        return LOST if own_below_minimum(b) else WON
    return known_value(tables, b)
