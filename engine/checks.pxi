# What must hold everywhere. Assertions ask it, and only a build with MERELS_DEBUG=1 has those.

# Whether a board is one: no point taken twice or off the board, no side with more than nine men.
cdef inline bint sound_board(const Board *b) noexcept nogil:
    return (b.own & b.opponent) == 0 and (b.own | b.opponent) >> POINT_COUNT == 0 and (
        count(b.own) + b.own_hand <= 9 and count(b.opponent) + b.opponent_hand <= 9)


# Whether a turn can be made on a board at all, whatever the rules say of it.
cdef inline bint fits(const Board *b, turn_t turn) noexcept nogil:
    cdef int to = to_of(turn), origin = origin_of(turn)
    cdef int first = taken_of(turn), second = second_taken_of(turn)
    if to >= POINT_COUNT or ((b.own | b.opponent) >> to) & 1 or turn >> 20:
        return False
    if b.own_hand == 0 if origin == NOWHERE else not (b.own >> origin) & 1:
        return False
    if first == NOWHERE:
        return second == NOWHERE
    return (b.opponent >> first) & 1 and first != second and (
        second == NOWHERE or (b.opponent >> second) & 1)


# Whether a board, taken back by the turn that led to it, is the one before.
cdef inline bint leads_back(const Board *after, turn_t turn, const Board *before) noexcept nogil:
    cdef uint32_t own = after.opponent & ~(1u << to_of(turn))
    cdef uint32_t opponent = after.own
    cdef int hand = after.opponent_hand
    if origin_of(turn) == NOWHERE:
        hand += 1
    else:
        own |= 1u << origin_of(turn)
    if taken_of(turn) != NOWHERE:
        opponent |= 1u << taken_of(turn)
    if second_taken_of(turn) != NOWHERE:
        opponent |= 1u << second_taken_of(turn)
    return (own == before.own and opponent == before.opponent and hand == before.own_hand
            and after.own_hand == before.opponent_hand)


# How many turns the generator finds.
cdef int listed(const RuleSet *rules, const Board *b) noexcept nogil:
    cdef TurnList list
    generate(rules, b, &list, True, True)
    return list.size


# Whether the generator finds a turn.
cdef bint is_legal(const RuleSet *rules, const Board *b, turn_t turn) noexcept nogil:
    cdef TurnList list
    cdef int i
    generate(rules, b, &list, True, True)
    for i in range(list.size):
        if list.turns[i] == turn:
            return True
    return False


# Whether the entries of a position are entries at all.
cdef bint sound_entries(const int *at) noexcept nogil:
    cdef int i
    for i in range(PARTS):
        if not 0 <= at[i] < ENTRIES:
            return False
    return True
