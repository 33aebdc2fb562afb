# Verification: each value is recomputed from the successors that the search's move generator finds.
# The index, the detection of mills and the choice of removals are those of the retrograde analysis,
# but not the moves.
#
# Values of positions with an odd number of men in hand are not stored. They are recomputed into a
# table in memory or, for a sample of places, by a search of one ply.
#
# Under a limit on plies a value also depends on depths: a win or loss after too many plies is a
# draw. The lists of depths decide this; only the depths that a value needs are read.
#
# Needs platform.pxi, borrowed.pxi, movegen.pxi, index.pxi, probe.pxi, depths.pxi.

cdef struct Checked:         # a table whose places are checked or recomputed
    Tables *tables
    int own, opponent, hand
    int limit                # on plies; 0: no limit
    bint missing             # whether a value was needed that is in no table
    Board unknown            # the board of this value


# Whether a lost board loses within a number of plies. Without depths this is unknown: the caller
# assumes it of no board (`late`) or of all.
cdef bint loses_within(const Tables *tables, const Board *b, int plies, bint late) noexcept nogil:
    cdef int own = count(b.own), opponent = count(b.opponent), depth, unlisted
    if tables.depths[own][opponent] == NULL:
        return not late
    depth = listed_depth_of(tables, b)
    if depth < 0:
        unlisted = least_listed_depth(&tables.rules, own, opponent) - 1
        depth = 0 if plies >= unlisted else depth_of_loss(tables, b, plies)
    return depth <= plies


# Whether a won board wins within a number of plies; `late` as in `loses_within`.
cdef bint wins_within(const Tables *tables, const Board *b, int plies, bint late) noexcept nogil:
    cdef MoveList list
    cdef Board after
    cdef int closing, i
    for closing in range(1, -1, -1):  # As in `recomputed`.
        generate(&tables.rules, b, &list, closing, not closing)
        for i in range(list.size):
            make(b, list.moves[i], &after)
            if own_below_minimum(&after) or table_probe(tables, &after) == LOST:
                if is_removal(list.moves[i]) or loses_within(tables, &after, plies - 1, late):
                    return plies > 0
    return False


# The value of a board from those of its moves; `late` as in `loses_within`. If a move's value is
# needed but in no table, note the board after the move.
cdef int recomputed(Checked *c, const Board *b, bint late) noexcept nogil:
    cdef MoveList list
    cdef Board after
    cdef int closing, i, value, moves = 0, best = LOST
    cdef bint in_time
    for closing in range(1, -1, -1):
        # Moves that close a mill come first: they are few and win most often.
        generate(&c.tables.rules, b, &list, closing, not closing)
        moves += list.size
        for i in range(list.size):
            make(b, list.moves[i], &after)
            value = LOST if own_below_minimum(&after) else known_value(c.tables, &after)
            in_time = c.limit == 0 or is_removal(list.moves[i])
            if value == LOST:
                if in_time or loses_within(c.tables, &after, c.limit - 1, late):
                    return WON
                best = DRAWN
            elif value == DRAWN:
                best = DRAWN
            elif value == WON:
                if best == LOST and not in_time and not wins_within(
                        c.tables, &after, c.limit - 1, late):
                    best = DRAWN
            elif not c.missing:
                c.missing = True
                c.unknown = after
    return DRAWN if moves == 0 and c.tables.rules.blocked_draws else best


# The board at a place of the table.
cdef inline void load_state(const Checked *c, uint64_t place, Board *b) noexcept nogil:
    cdef uint32_t size = block_size(c.own, c.opponent, c.hand)
    men_at(c.own, c.opponent, c.hand, place // size, place % size, &b.own, &b.opponent)
    b.own_hand = (c.hand + 1) // 2
    b.opponent_hand = c.hand // 2
    b.plies = 0
    count_men(b)


# Whether the stored value at a place follows from those of its moves.
cdef bint agrees(Checked *c, uint64_t place) noexcept nogil:
    cdef const uint8_t *values = c.tables.values[c.hand][c.own][c.opponent]
    cdef Board b
    cdef int stored
    if values != NULL:
        stored = value_at(values, place)
    else:
        stored = packed_value(c.tables.packed[c.hand][c.own][c.opponent], place)
    load_state(c, place, &b)
    return recomputed(c, &b, False) == stored or (
        c.limit and recomputed(c, &b, True) == stored)


# Begin to check or recompute the places of a table up to `last`; share the tables until `end`.
cdef int begin(Checked *c, Tables *tables, int own, int opponent, int hand,
               uint64_t last) except -1:
    if last > count_places(own, opponent, hand):
        raise ValueError(f"no places up to {last} in the table {table_name(own, opponent, hand)}")
    memset(c, 0, sizeof(Checked))
    c.tables = tables
    c.own = own
    c.opponent = opponent
    c.hand = hand
    c.limit = 0 if hand else plies_limit(&tables.rules, own, opponent)
    share(&tables.users, "the set of tables")
    return 0


# End sharing the tables; ValueError if the value of a successor was missing.
cdef int end(const Checked *c) except -1:
    cdef int hand = c.unknown.own_hand + c.unknown.opponent_hand
    cdef str needed = table_name(count(c.unknown.own), count(c.unknown.opponent), hand)
    end_sharing(&c.tables.users)
    if not c.missing:
        return 0
    if hand & 1:             # The table is not stored; its values follow from other tables.
        needed = f"a table after a move in {needed} is missing"
    else:
        needed = f"the table {needed} is missing"
    raise ValueError(f"cannot check {table_name(c.own, c.opponent, c.hand)}: {needed}")


cdef str table_name(int own, int opponent, int hand):
    return f"{own}-{opponent}+{hand}" if hand else f"{own}-{opponent}"


def verify_places(tables not None, int own, int opponent, int hand, uint64_t first,
                  uint64_t last):
    cdef Tables *shared = borrow_tables(tables)
    cdef Checked c
    cdef uint64_t errors = 0, first_error = 0
    begin(&c, shared, own, opponent, hand, last)
    if not has_table(shared, own, opponent, hand):
        end(&c)
        raise ValueError(f"no table {table_name(own, opponent, hand)}")
    with nogil:
        while first < last and not c.missing:
            if not agrees(&c, first):
                if errors == 0:
                    first_error = first
                errors += 1
            first += 1
    end(&c)
    return errors, first_error


def recompute_places(tables not None, int own, int opponent, int hand, uint64_t first,
                     uint64_t last, values):
    cdef _Span span = span_of(values, width=1, writable=True)
    cdef Tables *shared = borrow_tables(tables)
    cdef Checked c
    cdef Board b
    if first & 3 or not hand or <uint64_t>span.size < (last + 3) // 4:
        raise ValueError(
            f"no such places in the table {table_name(own, opponent, hand)}, or too few bytes")
    begin(&c, shared, own, opponent, hand, last)
    with nogil:
        while first < last and not c.missing:
            load_state(&c, first, &b)
            span.start[first >> 2] |= recomputed(&c, &b, False) << (2 * (first & 3))
            first += 1
    end(&c)
