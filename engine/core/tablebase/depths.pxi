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


# The least plies of a listed loss, for each number of men.
cdef inline int long_loss(const RuleSet *rules, int own, int opponent) noexcept nogil:
    if rules.flying != FLYING_NEVER and min(own, opponent) == FLYING_MEN:
        return LONG_WHERE_FLYING
    return LONG_LOSS


# The places of a table of the moving phase.
cdef inline uint64_t places_of(int own, int opponent) noexcept nogil:
    return <uint64_t>CLASSES[max(own, opponent)] * block_size(own, opponent, 0)


# Numbers in a list's index; the last is the number of losses in the list.
cdef inline uint64_t index_size(uint64_t places) noexcept nogil:
    return (places + LIST_BLOCK - 1) // LIST_BLOCK + 1


# The listed depth of a place, or -1.
cdef int listed_depth(const uint8_t *list, uint64_t places, uint64_t place) noexcept nogil:
    cdef uint64_t size = index_size(places)
    cdef const uint8_t *offsets = list + 4 * size
    cdef uint32_t total = read_bytes(offsets - 4, 4), wanted = place % LIST_BLOCK, middle
    cdef uint32_t first = read_bytes(list + 4 * (place // LIST_BLOCK), 4)
    cdef uint32_t end = read_bytes(list + 4 * (place // LIST_BLOCK) + 4, 4)
    while first < end:
        middle = first + (end - first) // 2
        if read_bytes(offsets + 2 * <size_t>middle, 2) < wanted:
            first = middle + 1
        else:
            end = middle
    if first == read_bytes(list + 4 * (place // LIST_BLOCK) + 4, 4) or (
            read_bytes(offsets + 2 * <size_t>first, 2) != wanted):
        return -1
    return offsets[2 * <size_t>total + first]


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
