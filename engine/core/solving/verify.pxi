# Verification: values and depths are recomputed from the successors that the search's move
# generator finds. The index, the detection of mills and the choice of removals are those of the
# retrograde analysis, but not the moves.
#
# Values of positions with an odd number of men in hand are not stored. They are recomputed into a
# table in memory or, for a sample of places, by a search of one ply.
#
# Recomputing depths takes far longer than recomputing values, so large tables have only a share of
# their depths recomputed. A depth follows from the depths of losses one or two plies later. Most of
# these losses are not listed, and each depth would take a search. Their range is used instead: any
# depth below the least listed depth. Exact depths are searched for at one place in SEARCHED_EVERY,
# and at all places if the limit on plies is at most LEAST_LISTED.
#
# Needs platform.pxi, borrowed.pxi, movegen.pxi, index.pxi, probe.pxi, depths.pxi.

cdef enum:
    GROUP = 16                       # states whose successors are prefetched together
    ALL_DEPTHS_UP_TO = 1 << 18       # greatest number of places of a table with all depths checked
    DEPTH_EVERY = 16                 # in larger tables, depths at one place in this are checked
    SEARCHED_EVERY = 1024            # at one place in this, unlisted depths are searched for

cdef struct Successor:
    const uint8_t *values    # its table; NULL: `value` is set instead of `place`
    uint64_t place
    int value
    Board board
    bint removal             # its move removes a man
    bint wins                # its move leaves the opponent with fewer than three men

cdef struct ValueRange:      # of values, -1 to 1
    int least
    int greatest

cdef struct DepthRange:      # of depths in plies
    int least
    int greatest

cdef struct Group:           # states of one table
    int own, opponent, hand
    int size
    uint64_t places[GROUP]
    Successor successors[GROUP][MAX_MOVES]
    int sizes[GROUP]         # numbers of successors
    MoveList moves
    int missing              # 1 << 24 | own << 16 | opponent << 8 | hand of a missing table, or 0


# The board at a place of the group's table.
cdef inline void load_state(const Group *group, uint64_t place, Board *b) noexcept nogil:
    cdef uint32_t size = block_size(group.own, group.opponent, group.hand)
    men_at(group.own, group.opponent, group.hand, place // size, place % size, &b.own, &b.opponent)
    b.own_hand = (group.hand + 1) // 2
    b.opponent_hand = group.hand // 2
    b.plies = 0
    count_men(b)


# Set the successor of a move, and prefetch its value.
cdef inline void load_successor(const Tables *tables, const Board *b, move_t move, Group *group,
                                Successor *successor) noexcept nogil:
    cdef Board *after = &successor.board
    cdef int own, opponent, hand
    make(b, move, after)
    own = count(after.own)
    opponent = count(after.opponent)
    hand = after.own_hand + after.opponent_hand
    successor.removal = is_removal(move)
    successor.wins = own_below_minimum(after)
    if successor.wins:
        return
    successor.values = tables.values[hand][own][opponent]
    if successor.values == NULL:
        successor.value = known_value(tables, after)
        if successor.value == UNKNOWN:
            group.missing = 1 << 24 | own << 16 | opponent << 8 | hand
        return
    successor.place = place_of(after.own, own, after.opponent, opponent, hand)
    prefetch(successor.values + (successor.place >> 2))


# The range of a lost board's depth: exact if the depth is listed or `searched`.
cdef inline DepthRange depth_range_of_loss(const Tables *tables, const Board *b,
                                           bint searched) noexcept nogil:
    cdef DepthRange depth
    cdef int least_listed = least_listed_depth(&tables.rules, count(b.own), count(b.opponent))
    depth.least = listed_depth_of(tables, b)
    if depth.least < 0 and searched:
        depth.least = depth_of_loss(tables, b, least_listed - 1)
    depth.greatest = depth.least
    if depth.least < 0:
        depth.least = 0
        depth.greatest = least_listed - 1
    return depth


# The range of a won board's depth, from its moves. The loop over the moves ends once `greatest` is
# at most `enough`; `least` may then be too high, but is at most `enough`, too.
cdef DepthRange depth_range_of_win(const Tables *tables, const Board *b, int enough,
                                   bint searched) noexcept nogil:
    cdef MoveList list
    cdef Board after
    cdef DepthRange loss, depth
    cdef int i, closing
    depth.least = depth.greatest = MAX_STORED
    for closing in range(1, -1, -1):
        generate(&tables.rules, b, &list, closing, not closing)
        for i in range(list.size):
            if depth.greatest <= enough:
                return depth
            make(b, list.moves[i], &after)
            if own_below_minimum(&after):
                depth.least = depth.greatest = 1
            elif table_probe(tables, &after) == LOST:
                if is_removal(list.moves[i]):
                    depth.least = depth.greatest = 1
                else:
                    loss = depth_range_of_loss(tables, &after, searched)
                    depth.least = min(depth.least, loss.least + 1)
                    depth.greatest = min(depth.greatest, loss.greatest + 1)
    return depth


# The range of a lost board's depth, from its successors, which are all won.
cdef DepthRange depth_range_by_moves(const Tables *tables, const Successor *successors, int size,
                                     bint searched) noexcept nogil:
    cdef DepthRange win, depth
    cdef int i
    depth.least = depth.greatest = size != 0
    for i in range(size):
        if not successors[i].removal:
            win = depth_range_of_win(tables, &successors[i].board, depth.least - 1, searched)
            depth.least = max(depth.least, min(win.least + 1, MAX_STORED))
            depth.greatest = max(depth.greatest, min(win.greatest + 1, MAX_STORED))
    return depth


# Set the range of a move's value for the side that plays it. It includes a draw if the move wins or
# loses after a number of plies that may exceed the limit. `has_depths`: the tables have depths.
cdef inline void load_move_range(const Tables *tables, const Successor *successor, int limit,
                                 bint has_depths, ValueRange *move) noexcept nogil:
    cdef int value = successor.value
    cdef DepthRange loss
    if successor.wins:
        move.least = move.greatest = 1
        return
    if successor.values != NULL:
        value = value_at(successor.values, successor.place)
    move.least = move.greatest = 1 if value == LOST else -1 if value == WON else 0
    if limit == 0 or value == DRAWN or successor.removal:
        return
    if value == LOST and has_depths:
        loss = depth_range_of_loss(tables, &successor.board, limit <= LEAST_LISTED)
        move.least = loss.greatest < limit
        move.greatest = loss.least < limit
        return
    move.least = min(move.least, 0)
    move.greatest = max(move.greatest, 0)


# Set the range of a state's value from its moves. Depths are not needed after a certain win.
cdef inline void load_state_range(const Tables *tables, const Successor *successors, int size,
                                  int limit, bint has_depths, ValueRange *state) noexcept nogil:
    cdef ValueRange move
    cdef int i
    state.least = state.greatest = -1
    if size == 0 and tables.rules.blocked_draws:
        state.least = state.greatest = 0
    for i in range(size):
        load_move_range(tables, &successors[i], limit, has_depths and state.least < 1, &move)
        state.least = max(state.least, move.least)
        state.greatest = max(state.greatest, move.greatest)


# Whether a stored value is in the range from the moves. If the depth of a loss is checked, the
# stored depth must be in its range, too, and this range may narrow that of the value.
cdef bint agrees(const Tables *tables, const Group *group, int index, int value, int limit,
                 ValueRange *state) noexcept nogil:
    cdef const Successor *successors = group.successors[index]
    cdef bint check_depth = group.hand == 0 and tables.depths[group.own][group.opponent] != NULL
    cdef bint searched = group.places[index] % SEARCHED_EVERY == 0 or 0 < limit <= LEAST_LISTED
    cdef int stored = 1 if value == WON else -1 if value == LOST else 0, stored_depth
    cdef DepthRange depth
    cdef uint64_t places = places_of(group.own, group.opponent)
    if value == LOST and places > ALL_DEPTHS_UP_TO and group.places[index] % DEPTH_EVERY:
        check_depth = False
    if check_depth and state.least < 0:
        depth = depth_range_by_moves(tables, successors, group.sizes[index], searched)
        if limit and depth.least > limit:
            state.least = 0
        elif limit == 0 or depth.greatest <= limit:
            state.greatest = -1
    if value == UNKNOWN or not state.least <= stored <= state.greatest:
        return False
    if not check_depth or value != LOST:
        return True
    stored_depth = listed_depth(
        tables.depths[group.own][group.opponent], places, group.places[index])
    if stored_depth < 0:
        return depth.least < least_listed_depth(&tables.rules, group.own, group.opponent)
    return depth.least <= stored_depth <= depth.greatest


# Recompute states with men in hand. Placements lead to few blocks, which stay in the cache, so
# there is no prefetching, and the first winning move ends the loop.
cdef void recompute_placing(const Tables *tables, Group *group,
                            ValueRange *states) noexcept nogil:
    cdef Board b
    cdef int i, j, value
    for i in range(group.size):
        load_state(group, group.places[i], &b)
        value = look_ahead(tables, &b)
        states[i].least = states[i].greatest = 1 if value == WON else -1 if value == LOST else 0
        if value == UNKNOWN:     # Find the missing table, for the error.
            generate(&tables.rules, &b, &group.moves, True, True)
            for j in range(group.moves.size):
                load_successor(
                    tables, &b, group.moves.moves[j], group, &group.successors[0][0])


# Set the range of the value of each state of a group from its successors. `limit` is the moving
# phase's limit on plies.
cdef void recompute(const Tables *tables, Group *group, int limit,
                    ValueRange *states) noexcept nogil:
    cdef bint has_depths = tables.depths[group.own][group.opponent] != NULL
    cdef Board b
    cdef int i, j
    if group.hand:
        recompute_placing(tables, group, states)
        return
    for i in range(group.size):
        load_state(group, group.places[i], &b)
        generate(&tables.rules, &b, &group.moves, True, True)
        group.sizes[i] = group.moves.size
        for j in range(group.sizes[i]):
            load_successor(
                tables, &b, group.moves.moves[j], group, &group.successors[i][j])
    for i in range(group.size):
        load_state_range(
            tables, group.successors[i], group.sizes[i], limit, has_depths, &states[i])


# Check the places of a group. Add the number of wrong places to `errors`; set `first_error` to the
# first wrong place if `errors` was 0.
cdef void check_group(const Tables *tables, Group *group, uint64_t *errors,
                      uint64_t *first_error) noexcept nogil:
    cdef const uint8_t *values = tables.values[group.hand][group.own][group.opponent]
    cdef int limit = 0, i, value
    cdef ValueRange states[GROUP]
    if group.hand == 0:
        limit = plies_limit(&tables.rules, group.own, group.opponent)
    recompute(tables, group, limit, states)
    for i in range(group.size):
        if values != NULL:
            value = value_at(values, group.places[i])
        else:
            value = packed_value(
                tables.packed[group.hand][group.own][group.opponent], group.places[i])
        if not agrees(tables, group, i, value, limit, &states[i]):
            if errors[0] == 0:
                first_error[0] = group.places[i]
            errors[0] += 1


# Allocate a group of states of one table, and share the tables until `end_group`.
cdef Group *new_group(Tables *tables, int own, int opponent, int hand) except NULL:
    cdef Group *group
    share(&tables.users, "the set of tables")
    group = <Group *>malloc(sizeof(Group))
    if group == NULL:
        end_sharing(&tables.users)
        raise MemoryError("no memory to verify a table")
    group.own = own
    group.opponent = opponent
    group.hand = hand
    group.missing = 0
    return group


# Free a group and end sharing the tables; ValueError if a table was missing.
cdef int end_group(Tables *tables, Group *group) except -1:
    cdef int missing = group.missing
    cdef str checked = table_name(group.own, group.opponent, group.hand)
    cdef str needed = table_name(missing >> 16 & 255, missing >> 8 & 255, missing & 255)
    free(group)
    end_sharing(&tables.users)
    if missing:
        if missing & 1:      # The table is not stored; its values follow from other tables.
            raise ValueError(f"cannot check {checked}: a table after a move in {needed} is missing")
        raise ValueError(f"cannot check {checked}: the table {needed} is missing")
    return 0


cdef str table_name(int own, int opponent, int hand):
    return f"{own}-{opponent}+{hand}" if hand else f"{own}-{opponent}"


# Check `number` places of a table: those in `places` or, if it is NULL, the places from `first` on.
# Return the number of wrong places and the first of them, or 0.
cdef tuple check_places(Tables *tables, int own, int opponent, int hand, const uint64_t *places,
                        uint64_t first, uint64_t number):
    cdef Group *group = new_group(tables, own, opponent, hand)
    cdef uint64_t errors = 0, first_error = 0, done = 0
    cdef int i
    with nogil:
        while done < number and not group.missing:
            group.size = <int>min(<uint64_t>GROUP, number - done)
            for i in range(group.size):
                group.places[i] = first + done + i if places == NULL else places[done + i]
            check_group(tables, group, &errors, &first_error)
            done += group.size
    end_group(tables, group)
    return errors, first_error


def verify_places(tables not None, int own, int opponent, int hand, uint64_t first,
                  uint64_t last):
    cdef Tables *shared = borrow_tables(tables)
    if last > count_places(own, opponent, hand) or not has_table(shared, own, opponent, hand):
        raise ValueError(f"no places up to {last}, or no table {table_name(own, opponent, hand)}")
    return check_places(shared, own, opponent, hand, NULL, first, max(first, last) - first)


def verify_sample(tables not None, int own, int opponent, int hand, places):
    cdef Tables *shared = borrow_tables(tables)
    cdef uint64_t table_size = count_places(own, opponent, hand)
    cdef bytearray copied = copy_bytes(places, width=sizeof(uint64_t))
    cdef const uint64_t *place = <const uint64_t *><uint8_t *>copied
    cdef Py_ssize_t i, number = len(copied) // sizeof(uint64_t)
    for i in range(number):
        if place[i] >= table_size:
            raise ValueError(
                f"no place {place[i]} in the table {table_name(own, opponent, hand)}")
    if not number or not has_table(shared, own, opponent, hand):
        raise ValueError(f"no places, or no table {table_name(own, opponent, hand)}")
    return check_places(shared, own, opponent, hand, place, 0, number)


def recompute_places(tables not None, int own, int opponent, int hand, uint64_t first,
                     uint64_t last, values):
    cdef _Span span = span_of(values, width=1, writable=True)
    cdef uint8_t *out = span.start
    cdef Tables *shared = borrow_tables(tables)
    cdef Group *group
    cdef ValueRange states[GROUP]
    cdef int i, value
    if first & 3 or last > count_places(own, opponent, hand) or not hand or (
            <uint64_t>span.size < (last + 3) // 4):
        raise ValueError(
            f"no such places in the table {table_name(own, opponent, hand)}, or too few bytes")
    group = new_group(shared, own, opponent, hand)
    with nogil:
        while first < last and not group.missing:
            group.size = <int>min(<uint64_t>GROUP, last - first)
            for i in range(group.size):
                group.places[i] = first + i
            recompute(shared, group, 0, states)
            for i in range(group.size):
                value = states[i].least
                value = WON if value > 0 else LOST if value < 0 else DRAWN
                out[(first + i) >> 2] |= value << (2 * ((first + i) & 3))
            first += group.size
    end_group(shared, group)
