# What must hold everywhere. Assertions ask it, and only a build with MERELS_DEBUG=1 has those.

# Whether a board is one: no point taken twice or off the board, no side with more than nine men.
cdef inline bint sound_board(const Board *b) noexcept nogil:
    return (b.own & b.opponent) == 0 and (b.own | b.opponent) >> POINT_COUNT == 0 and (
        count(b.own) + b.own_hand <= 9 and count(b.opponent) + b.opponent_hand <= 9)


# Whether a move can be made on a board at all, whatever the rules say of it.
cdef inline bint fits(const Board *b, move_t move) noexcept nogil:
    cdef int to = to_of(move), origin = origin_of(move)
    cdef int first = removed_of(move), second = second_removed_of(move)
    if to >= POINT_COUNT or ((b.own | b.opponent) >> to) & 1 or move >> 20:
        return False
    if b.own_hand == 0 if origin == NOWHERE else not (b.own >> origin) & 1:
        return False
    if first == NOWHERE:
        return second == NOWHERE
    return (b.opponent >> first) & 1 and first != second and (
        second == NOWHERE or (b.opponent >> second) & 1)


# Whether a board, taken back by the move that led to it, is the one before.
cdef inline bint leads_back(const Board *after, move_t move, const Board *before) noexcept nogil:
    cdef uint32_t own = after.opponent & ~(1u << to_of(move))
    cdef uint32_t opponent = after.own
    cdef int hand = after.opponent_hand
    if origin_of(move) == NOWHERE:
        hand += 1
    else:
        own |= 1u << origin_of(move)
    if removed_of(move) != NOWHERE:
        opponent |= 1u << removed_of(move)
    if second_removed_of(move) != NOWHERE:
        opponent |= 1u << second_removed_of(move)
    return (own == before.own and opponent == before.opponent and hand == before.own_hand
            and after.own_hand == before.opponent_hand)


# How many moves the generator finds.
cdef int listed(const RuleSet *rules, const Board *b) noexcept nogil:
    cdef MoveList list
    generate(rules, b, &list, True, True)
    return list.size


# Whether the generator finds a move.
cdef bint is_legal(const RuleSet *rules, const Board *b, move_t move) noexcept nogil:
    cdef MoveList list
    cdef int i
    generate(rules, b, &list, True, True)
    for i in range(list.size):
        if list.moves[i] == move:
            return True
    return False


# Whether the entries of a position are entries at all.
cdef bint sound_entries(const int *at) noexcept nogil:
    cdef int i
    for i in range(PARTS):
        if not 0 <= at[i] < ENTRIES:
            return False
    return True
