# Depth to conversion: the number of plies to the next removal or the end of the game, if the
# winning side plays for the shortest and the losing side for the longest line.
#
# A win has depth 1 if a removal wins. Otherwise it is one ply longer than the shortest loss that a
# move without a removal leads to. Only the depths of long losses are stored, in lists; a short
# search finds all other depths.
#
# A list has an index, the losses' offsets within their blocks of places, and their depths.
#
# Needs board.pxi, movegen.pxi, index.pxi, probe.pxi.

cdef enum:
    LEAST_LISTED = 8         # least depth of a listed loss, in plies
    LEAST_LISTED_FLYING = 2  # instead if a side flies: its many moves would make a search slow
    LIST_BLOCK = 1 << 16     # places for each entry of a list's index
    MAX_STORED = 255         # greatest stored depth; it also represents all greater depths


# The least depth of a listed loss with these numbers of men.
cdef inline int least_listed_depth(const RuleSet *rules, int own, int opponent) noexcept nogil:
    if rules.flying != FLYING_NEVER and min(own, opponent) == FLYING_MEN:
        return LEAST_LISTED_FLYING
    return LEAST_LISTED


# The number of places in a table of the moving phase.
cdef inline uint64_t places_of(int own, int opponent) noexcept nogil:
    return <uint64_t>CLASSES[max(own, opponent)] * block_size(own, opponent, 0)


# The number of 4-byte entries in a list's index. Entry i is the number of losses before block i,
# and the last entry is the number of all losses.
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


# The listed depth of a lost board, or -1.
cdef inline int listed_depth_of(const Tables *tables, const Board *b) noexcept nogil:
    cdef int own = count(b.own), opponent = count(b.opponent)
    if tables.depths[own][opponent] == NULL:
        return -1
    return listed_depth(tables.depths[own][opponent], places_of(own, opponent),
                        place_of(b.own, own, b.opponent, opponent, 0))


# The depth of a lost board, or any number above `most` if the depth is above `most`. The board's
# table must have depths.
cdef int depth_of_loss(const Tables *tables, const Board *b, int most) noexcept nogil:
    cdef MoveList list
    cdef Board after
    cdef int i, deepest = listed_depth_of(tables, b)
    if deepest >= 0:
        return deepest
    deepest = 0
    most = min(most, least_listed_depth(&tables.rules, count(b.own), count(b.opponent)) - 1)
    generate_all(&tables.rules, b, &list)
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


# The depth of a won board if it is at most `most`; otherwise a number above `most`.
cdef int depth_of_win(const Tables *tables, const Board *b, int most) noexcept nogil:
    cdef MoveList list
    cdef Board after
    cdef int i, shortest = most + 1
    generate(&tables.rules, b, &list, True, False)
    for i in range(list.size):
        make(b, list.moves[i], &after)
        if is_removal(list.moves[i]) and (
                own_below_minimum(&after) or table_probe(tables, &after) == LOST):
            return 1
    generate_all(&tables.rules, b, &list)
    for i in range(list.size):
        if shortest < 2:
            break
        make(b, list.moves[i], &after)
        if not is_removal(list.moves[i]) and table_probe(tables, &after) == LOST:
            shortest = min(shortest, 1 + depth_of_loss(tables, &after, shortest - 2))
    return shortest
