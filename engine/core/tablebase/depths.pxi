# Depths to conversion: the plies to the next removal or the end of the game when the side that
# wins hurries and the other delays.
#
# Only those of long losses are kept, in lists. All others follow: a win is one ply longer than the
# shortest loss that its moves lead to, and a loss that no list has ends within a short search.
#
# Needs board.pxi, movegen.pxi, index.pxi, probe.pxi.

cdef enum:
    LONG_LOSS = 8            # plies from which on a loss is listed,
    LONG_WHERE_FLYING = 2    # and where a side flies, whose many moves make a search slow
    LIST_BLOCK = 1 << 16     # places that share a number in a list's index
    MAX_STORED = 255         # the depth of everything deeper, too


# The plies from which on a loss is listed, with so many men a side.
cdef inline int long_loss(const RuleSet *rules, int own, int opponent) noexcept nogil:
    if rules.flying != FLYING_NEVER and min(own, opponent) == FLYING_MEN:
        return LONG_WHERE_FLYING
    return LONG_LOSS


cdef inline uint32_t two_bytes(const uint8_t *at) noexcept nogil:
    return at[0] | <uint32_t>at[1] << 8


cdef inline uint32_t four_bytes(const uint8_t *at) noexcept nogil:
    return two_bytes(at) | two_bytes(at + 2) << 16


# The places of a table of the moving phase.
cdef inline uint64_t places_of(int own, int opponent) noexcept nogil:
    return <uint64_t>CLASSES[max(own, opponent)] * block_size(own, opponent, 0)


# The numbers in a list's index, the last of which is how many losses it has.
cdef inline uint64_t index_size(uint64_t places) noexcept nogil:
    return (places + LIST_BLOCK - 1) // LIST_BLOCK + 1


# The listed depth of a place, or -1.
cdef int listed_depth(const uint8_t *list, uint64_t places, uint64_t place) noexcept nogil:
    cdef uint64_t size = index_size(places)
    cdef const uint8_t *offsets = list + 4 * size
    cdef uint32_t total = four_bytes(offsets - 4), wanted = place % LIST_BLOCK, middle
    cdef uint32_t first = four_bytes(list + 4 * (place // LIST_BLOCK))
    cdef uint32_t end = four_bytes(list + 4 * (place // LIST_BLOCK) + 4)
    while first < end:
        middle = first + (end - first) // 2
        if two_bytes(offsets + 2 * <size_t>middle) < wanted:
            first = middle + 1
        else:
            end = middle
    if first == four_bytes(list + 4 * (place // LIST_BLOCK) + 4) or (
            two_bytes(offsets + 2 * <size_t>first) != wanted):
        return -1
    return offsets[2 * <size_t>total + first]


# Whether a list is as long as its index says, and its index in order.
cdef bint is_list(const uint8_t *list, uint64_t length, uint64_t places) noexcept nogil:
    cdef uint64_t size = index_size(places), i
    if length < 4 * size or four_bytes(list):
        return False
    for i in range(1, size):
        if four_bytes(list + 4 * i) < four_bytes(list + 4 * i - 4):
            return False
    return length == 4 * size + 3 * <uint64_t>four_bytes(list + 4 * size - 4)


# The depth of a lost board that is listed, or -1.
cdef inline int listed_loss(const Tables *tables, const Board *b) noexcept nogil:
    cdef int own = count(b.own), opponent = count(b.opponent)
    if tables.depths[own][opponent] == NULL:
        return -1
    return listed_depth(tables.depths[own][opponent], places_of(own, opponent),
                        place_of(b.own, own, b.opponent, opponent, 0))


# The depth of a lost board whose depths are kept, where it is at most `most`; otherwise more.
cdef int depth_of_loss(const Tables *tables, const Board *b, int most) noexcept nogil:
    cdef MoveList list
    cdef Board after
    cdef int i, deepest = listed_loss(tables, b)
    if deepest >= 0:
        return deepest
    deepest = 0
    most = min(most, long_loss(&tables.rules, count(b.own), count(b.opponent)) - 1)
    generate(&tables.rules, b, &list, True, True)
    for i in range(list.size):
        if deepest == 0:
            deepest = 1
        if is_removal(list.moves[i]):
            continue
        if deepest > most:
            break
        make(b, list.moves[i], &after)
        deepest = max(deepest, 1 + depth_of_win(tables, &after, most - 1))
    return deepest


# The same for a won board.
cdef int depth_of_win(const Tables *tables, const Board *b, int most) noexcept nogil:
    cdef MoveList list
    cdef Board after
    cdef int i, shortest = most + 1
    generate(&tables.rules, b, &list, True, False)
    for i in range(list.size):
        make(b, list.moves[i], &after)
        if is_removal(list.moves[i]) and (
                own_short(&after) or table_probe(tables, &after) == LOST):
            return 1
    generate(&tables.rules, b, &list, True, True)
    for i in range(list.size):
        if shortest < 2:
            break
        make(b, list.moves[i], &after)
        if not is_removal(list.moves[i]) and table_probe(tables, &after) == LOST:
            shortest = min(shortest, 1 + depth_of_loss(tables, &after, shortest - 2))
    return shortest


# The depth of a board of that value (255: 255 or more), or -1: a draw, or no depths are kept.
cdef int depth_of(const Tables *tables, const Board *b, int value) noexcept nogil:
    cdef int most, depth, own = count(b.own), opponent = count(b.opponent)
    cdef int listed = long_loss(&tables.rules, own, opponent)
    if value == DRAWN or b.own_hand | b.opponent_hand or tables.depths[own][opponent] == NULL:
        return -1
    # A shallow look first: most ends are near.
    for most in range(1, listed + 1):
        if value == LOST:
            depth = depth_of_loss(tables, b, most)
        else:
            depth = depth_of_win(tables, b, most)
        if depth <= most or (value == LOST and depth >= listed):
            return depth
    if value == LOST:
        return -1            # a list that does not belong to the values
    return min(MAX_STORED, depth_of_win(tables, b, MAX_STORED))


# How many losses of a table have a depth in `depths`, a byte for each place.
cdef uint64_t count_listed(const uint8_t *depths, uint64_t places) noexcept nogil:
    cdef uint64_t place, total = 0
    for place in range(places):
        total += depths[place] != 0
    return total


# A list of the losses of a table that have a depth in `depths`.
cdef void write_list(const uint8_t *depths, uint64_t places, uint8_t *list,
                     uint64_t total) noexcept nogil:
    cdef uint8_t *offsets = list + 4 * index_size(places)
    cdef uint64_t place, size = 0
    for place in range(places):
        if place % LIST_BLOCK == 0:
            write_four(list + 4 * (place // LIST_BLOCK), size)
        if unlikely(depths[place]):
            offsets[2 * size] = place & 0xFF
            offsets[2 * size + 1] = (place >> 8) & 0xFF
            offsets[2 * total + size] = depths[place]
            size += 1
    write_four(offsets - 4, size)


cdef inline void write_four(uint8_t *at, uint32_t number) noexcept nogil:
    cdef int i
    for i in range(4):
        at[i] = (number >> (8 * i)) & 0xFF
