# Verification: every stored value and depth is recomputed from the successors that the search's
# move generator finds. It shares only the index with the retrograde analysis.
#
# Values with an odd number of men in hand, which are not stored, are recomputed into a table in
# memory or, for a sample of places, by a search of one ply.
#
# Depths take far longer than values, so in large tables only a share of the depths is recomputed. A
# loss that is not listed may then have any depth below the least listed depth, unless a limit on
# plies needs the exact depth.
#
# Needs movegen.pxi, index.pxi, probe.pxi, depths.pxi.

cdef enum:
    GROUP = 16               # states whose successors are prefetched together
    WHOLLY = 1 << 18         # places of a table up to which all depths are recomputed
    DEPTH_EVERY = 16         # in larger tables, one depth in DEPTH_EVERY is recomputed
    SEARCHED_EVERY = 1024    # unlisted depths are searched for at one place in SEARCHED_EVERY

cdef struct Successor:
    const uint8_t *values    # the table; NULL: `value` is set
    uint64_t place
    int value
    Board board
    bint removal
    bint wins                # the move leaves the opponent with two men

cdef struct Checked:         # the range of a value, -1 to 1
    int least
    int greatest

cdef struct Plies:           # the range of a depth
    int least
    int greatest

cdef struct Group:           # states of one table
    int own, opponent, hand
    int size
    uint64_t places[GROUP]
    Successor successors[GROUP][MAX_MOVES]
    int sizes[GROUP]
    MoveList moves
    int missing              # 0, or 1 << 24 and the men of a missing table: own, opponent, in hand


# The board at a place of the group's table.
cdef inline void load_state(const Group *group, uint64_t place, Board *b) noexcept nogil:
    cdef uint32_t size = block_size(group.own, group.opponent, group.hand)
    men_at(group.own, group.opponent, group.hand, place // size, place % size, &b.own, &b.opponent)
    b.own_hand = (group.hand + 1) // 2
    b.opponent_hand = group.hand // 2
    b.plies = 0
    count_men(b)


# Set the successor of a move, and prefetch its value.
cdef inline void look_up(const Tables *tables, const Board *b, move_t move, Group *group,
                         Successor *successor) noexcept nogil:
    cdef Board *after = &successor.board
    cdef int own, opponent, hand
    make(b, move, after)
    own = count(after.own)
    opponent = count(after.opponent)
    hand = after.own_hand + after.opponent_hand
    successor.removal = is_removal(move)
    successor.wins = own_short(after)
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


# The depth of a lost board: from its list or a search, otherwise the range of depths not listed.
cdef inline Plies plies_of_loss(const Tables *tables, const Board *b, bint searched) noexcept nogil:
    cdef Plies plies
    cdef int listed = long_loss(&tables.rules, count(b.own), count(b.opponent))
    plies.least = listed_loss(tables, b)
    if plies.least < 0 and searched:
        plies.least = depth_of_loss(tables, b, listed - 1)
    plies.greatest = plies.least
    if plies.least < 0:
        plies.least = 0
        plies.greatest = listed - 1
    return plies


# The depth of a won board from its moves; if it is at most `enough`, any depth from 1 to `enough`.
cdef Plies plies_of_win(const Tables *tables, const Board *b, int enough,
                        bint searched) noexcept nogil:
    cdef MoveList list
    cdef Board after
    cdef Plies loss, plies
    cdef int i, closing
    plies.least = plies.greatest = MAX_STORED
    for closing in range(1, -1, -1):
        generate(&tables.rules, b, &list, closing, not closing)
        for i in range(list.size):
            if plies.greatest <= enough:
                return plies
            make(b, list.moves[i], &after)
            if own_short(&after):
                plies.least = plies.greatest = 1
            elif table_probe(tables, &after) == LOST:
                if is_removal(list.moves[i]):
                    plies.least = plies.greatest = 1
                else:
                    loss = plies_of_loss(tables, &after, searched)
                    plies.least = min(plies.least, loss.least + 1)
                    plies.greatest = min(plies.greatest, loss.greatest + 1)
    return plies


# The depth of a lost board from its successors, which are all won.
cdef Plies plies_by_moves(const Tables *tables, const Successor *successors, int size,
                          bint searched) noexcept nogil:
    cdef Plies win, plies
    cdef int i
    plies.least = plies.greatest = size != 0
    for i in range(size):
        if not successors[i].removal:
            win = plies_of_win(tables, &successors[i].board, plies.least - 1, searched)
            plies.least = max(plies.least, min(win.least + 1, MAX_STORED))
            plies.greatest = max(plies.greatest, min(win.greatest + 1, MAX_STORED))
    return plies


# The value of a move for the side that plays it: a range if only unknown depths could decide it.
cdef inline void weigh_move(const Tables *tables, const Successor *successor, int limit, bint deep,
                            Checked *move) noexcept nogil:
    cdef int value = successor.value
    cdef Plies loss
    if successor.wins:
        move.least = move.greatest = 1
        return
    if successor.values != NULL:
        value = value_at(successor.values, successor.place)
    move.least = move.greatest = 1 if value == LOST else -1 if value == WON else 0
    if limit == 0 or value == DRAWN or successor.removal:
        return
    if value == LOST and deep:
        loss = plies_of_loss(tables, &successor.board, limit <= LONG_LOSS)
        move.least = loss.greatest < limit
        move.greatest = loss.least < limit
        return
    move.least = min(move.least, 0)
    move.greatest = max(move.greatest, 0)


# The value of a state from its moves.
cdef inline void weigh_moves(const Tables *tables, const Successor *successors, int size,
                             int limit, bint deep, Checked *state) noexcept nogil:
    cdef Checked move
    cdef int i
    state.least = state.greatest = -1
    if size == 0 and tables.rules.blocked_draws:
        state.least = state.greatest = 0
    for i in range(size):
        weigh_move(tables, &successors[i], limit, deep and state.least < 1, &move)
        state.least = max(state.least, move.least)
        state.greatest = max(state.greatest, move.greatest)


# Whether a stored value agrees with the moves and, in a table with depths, a loss with its depth.
cdef bint agrees(const Tables *tables, const Group *group, int index, int value, int limit,
                 Checked *state) noexcept nogil:
    cdef const Successor *successors = group.successors[index]
    cdef bint deep = group.hand == 0 and tables.depths[group.own][group.opponent] != NULL
    cdef bint searched = group.places[index] % SEARCHED_EVERY == 0 or 0 < limit <= LONG_LOSS
    cdef int stored = 1 if value == WON else -1 if value == LOST else 0, depth
    cdef Plies plies
    cdef uint64_t places = places_of(group.own, group.opponent)
    if value == LOST and places > WHOLLY and group.places[index] % DEPTH_EVERY:
        deep = False
    if deep and state.least < 0:
        plies = plies_by_moves(tables, successors, group.sizes[index], searched)
        if limit and plies.least > limit:
            state.least = 0
        elif limit == 0 or plies.greatest <= limit:
            state.greatest = -1
    if value == UNKNOWN or not state.least <= stored <= state.greatest:
        return False
    if not deep or value != LOST:
        return True
    depth = listed_depth(tables.depths[group.own][group.opponent], places, group.places[index])
    if depth < 0:
        return plies.least < long_loss(&tables.rules, group.own, group.opponent)
    return plies.least <= depth <= plies.greatest


# Recompute states with men in hand. Placements lead to few blocks, which stay in the cache, so
# there is no prefetching, and the first winning move ends the loop.
cdef void recompute_placing(const Tables *tables, Group *group, Checked *states) noexcept nogil:
    cdef Board b
    cdef int i, j, value
    for i in range(group.size):
        load_state(group, group.places[i], &b)
        value = look_ahead(tables, &b)
        states[i].least = states[i].greatest = 1 if value == WON else -1 if value == LOST else 0
        if value == UNKNOWN:
            generate(&tables.rules, &b, &group.moves, True, True)
            for j in range(group.moves.size):
                look_up(tables, &b, group.moves.moves[j], group, &group.successors[0][0])


# Recompute the states of a group from their successors; `limit` is the moving phase's limit on
# plies.
cdef void recompute(const Tables *tables, Group *group, int limit, Checked *states) noexcept nogil:
    cdef bint deep = tables.depths[group.own][group.opponent] != NULL
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
            look_up(tables, &b, group.moves.moves[j], group, &group.successors[i][j])
    for i in range(group.size):
        weigh_moves(tables, group.successors[i], group.sizes[i], limit, deep, &states[i])


# Check the places of a group; return the number of errors, and set `wrong` to the first.
cdef uint64_t check_group(const Tables *tables, Group *group, uint64_t *wrong) noexcept nogil:
    cdef const uint8_t *values = tables.values[group.hand][group.own][group.opponent]
    cdef int limit = 0, i, value
    cdef uint64_t errors = 0
    cdef Checked states[GROUP]
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
            if errors == 0:
                wrong[0] = group.places[i]
            errors += 1
    return errors


# Allocate a group of states of one table, and lock the tables until `end_group`.
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


cdef int end_group(Tables *tables, Group *group) except -1:
    cdef int missing = group.missing
    cdef str here = table_name(group.own, group.opponent, group.hand)
    cdef str there = table_name(missing >> 16 & 255, missing >> 8 & 255, missing & 255)
    free(group)
    end_sharing(&tables.users)
    if missing:
        raise ValueError(f"checking {here} needs "
                         f"{'all followers of' if missing & 1 else 'the table'} {there}")
    return 0


cdef str table_name(int own, int opponent, int hand):
    return f"{own}-{opponent}+{hand}" if hand else f"{own}-{opponent}"


def verify_places(tables not None, int own, int opponent, int hand, uint64_t first,
                  uint64_t last):
    cdef Tables *shared = borrow_tables(tables)
    cdef Group *group
    cdef uint64_t errors = 0, wrong = 0, here, at = 0
    cdef int i
    if last > count_places(own, opponent, hand) or not has_table(shared, own, opponent, hand):
        raise ValueError("no such places")
    group = new_group(shared, own, opponent, hand)
    with nogil:
        while first < last and not group.missing:
            group.size = <int>min(<uint64_t>GROUP, last - first)
            for i in range(group.size):
                group.places[i] = first + i
            here = check_group(shared, group, &at)
            if here and not errors:
                wrong = at
            errors += here
            first += group.size
    end_group(shared, group)
    return errors, wrong


def verify_sample(tables not None, int own, int opponent, int hand, places):
    cdef Tables *shared = borrow_tables(tables)
    cdef Group *group
    cdef uint64_t errors = 0, wrong = 0, here, at = 0, limit = count_places(own, opponent, hand)
    cdef bytearray copied = copy_bytes(places, width=sizeof(uint64_t))
    cdef const uint64_t *place = <const uint64_t *><uint8_t *>copied
    cdef Py_ssize_t done, number = len(copied) // sizeof(uint64_t)
    cdef int i
    for done in range(number):
        if place[done] >= limit:
            raise ValueError("no such places")
    if not number or not has_table(shared, own, opponent, hand):
        raise ValueError("no such places")
    done = 0
    group = new_group(shared, own, opponent, hand)
    with nogil:
        while done < number and not group.missing:
            group.size = <int>min(<Py_ssize_t>GROUP, number - done)
            for i in range(group.size):
                group.places[i] = place[done + i]
            here = check_group(shared, group, &at)
            if here and not errors:
                wrong = at
            errors += here
            done += group.size
    end_group(shared, group)
    return errors, wrong


def recompute_places(tables not None, int own, int opponent, int hand, uint64_t first,
                     uint64_t last, values):
    cdef _Span span = span_of(values, width=1, writable=True)
    cdef uint8_t *out = span.start
    cdef Tables *shared = borrow_tables(tables)
    cdef Group *group
    cdef Checked states[GROUP]
    cdef int i, value
    if first & 3 or last > count_places(own, opponent, hand) or not hand or (
            <uint64_t>span.size < (last + 3) // 4):
        raise ValueError("no such places")
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
