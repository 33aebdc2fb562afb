# Verification: every stored value and depth once more, from the successors that the search's move
# generator finds. It shares only the index with the retrograde analysis.
#
# Needs movegen.pxi, index.pxi, probe.pxi, retrograde.pxi (which tables removals lead to).

cdef enum:
    GROUP = 16               # states whose successors are fetched from memory together

cdef struct Successor:
    const uint8_t *values
    const uint8_t *depths
    uint64_t place
    bint removal
    bint wins                # the opponent has two men left

cdef struct Checked:         # what a state's successors say
    int least                # value, -1 to 1
    int greatest
    int depth


# The successor that a move leads to, its memory asked for.
cdef inline void look_up(const Tables *tables, const Board *b, move_t move,
                         Successor *successor) noexcept nogil:
    cdef Board after
    cdef int own, opponent
    make(b, move, &after)
    own = count(after.own)
    opponent = count(after.opponent)
    successor.removal = is_removal(move)
    successor.wins = own < MINIMUM_MEN
    if not successor.wins:
        successor.values = tables.values[0][own][opponent]
        assert successor.values != NULL
        successor.depths = tables.depths[own][opponent]
        successor.place = place_of(after.own, own, after.opponent, opponent)
        prefetch(successor.values + (successor.place >> 2))
        if successor.depths != NULL:
            prefetch(successor.depths + successor.place)


# What one move is worth to the side that plays it: a range where only depths would tell and there
# are none. The depth counts from before the move.
cdef inline void weigh_move(const Successor *successor, int limit, Checked *move) noexcept nogil:
    cdef int value
    if successor.wins:
        move.least = move.greatest = move.depth = 1
        return
    value = value_at(successor.values, successor.place)
    move.least = move.greatest = 1 if value == LOST else -1 if value == WON else 0
    move.depth = 1
    if value == DRAWN or successor.removal:
        return
    if successor.depths == NULL:
        if limit:
            move.least = min(move.least, 0)
            move.greatest = max(move.greatest, 0)
        return
    move.depth = successor.depths[successor.place] + 1
    if limit and move.depth > limit:
        move.least = move.greatest = 0
    elif move.depth > MAX_STORED:
        move.depth = MAX_STORED


# What a state is worth by its moves.
cdef inline void weigh_moves(const RuleSet *rules, const Successor *successors, int size,
                             int limit, Checked *state) noexcept nogil:
    cdef Checked move
    cdef int i, win = MAX_STORED + 1, loss = 0
    state.least = state.greatest = -1
    state.depth = 0
    if size == 0 and rules.blocked_draws:
        state.least = state.greatest = 0
    for i in range(size):
        weigh_move(&successors[i], limit, &move)
        if move.least > 0 and move.depth < win:
            win = move.depth
        if move.greatest < 0 and move.depth > loss:
            loss = move.depth
        state.least = max(state.least, move.least)
        state.greatest = max(state.greatest, move.greatest)
    state.depth = win if state.least > 0 else loss


cdef bint agrees(const Checked *state, int value, int depth) noexcept nogil:
    cdef int stored = 1 if value == WON else -1 if value == LOST else 0
    if value == UNKNOWN or not state.least <= stored <= state.greatest:
        return False
    return depth < 0 or stored == 0 or depth == state.depth


cdef struct Group:
    Board boards[GROUP]
    Successor successors[GROUP][MAX_MOVES]
    int sizes[GROUP]
    MoveList moves


# Check the states of one class; the number that are wrong, the first of them in `wrong`.
cdef uint64_t verify_class(const Tables *tables, const RuleSet *rules, int own, int opponent,
                           uint32_t cls, Group *group, uint64_t *wrong) noexcept nogil:
    cdef int larger = own if own > opponent else opponent
    cdef int smaller = own + opponent - larger
    cdef uint32_t size = BINOMIAL[POINT_COUNT - larger][smaller], rank = 0, men, others
    cdef int i, j, limit = plies_limit(rules, own, opponent)
    cdef const uint8_t *values = tables.values[0][own][opponent]
    cdef const uint8_t *depths = tables.depths[own][opponent]
    cdef uint64_t errors = 0, place = <uint64_t>cls * size
    cdef Checked state
    cdef Board *b
    men = MEMBER[larger][cls]
    while rank < size:
        for i in range(GROUP):
            if rank + i >= size:
                break
            others = expand(MASKS[smaller][rank + i], men)
            b = &group.boards[i]
            memset(b, 0, sizeof(Board))
            b.own = men if own >= opponent else others
            b.opponent = others if own >= opponent else men
            generate(rules, b, &group.moves, True, True)
            group.sizes[i] = group.moves.size
            for j in range(group.sizes[i]):
                look_up(tables, b, group.moves.moves[j], &group.successors[i][j])
        for i in range(GROUP):
            if rank + i >= size:
                break
            weigh_moves(rules, group.successors[i], group.sizes[i], limit, &state)
            if not agrees(&state, value_at(values, place + i),
                          depths[place + i] if depths != NULL else -1):
                if errors == 0:
                    wrong[0] = place + i
                errors += 1
        rank += GROUP
        place += GROUP
    return errors


def verify_classes(TableSet tables, tuple rules, int own, int opponent, uint32_t first,
                   uint32_t last):
    cdef RuleSet rule_set = load_rules(rules)
    cdef uint64_t errors = 0, wrong = 0, here, at = 0
    cdef uint32_t cls
    cdef Group *group
    for one, other in {(own, opponent), (opponent, own), *_removals_lead_to(
            rules, max(own, opponent), min(own, opponent))}:
        if not tables.has(one, other):
            raise ValueError(f"checking {own}-{opponent} needs the table {one}-{other}")
    if last > CLASSES[max(own, opponent)]:
        raise ValueError("no such class")
    group = <Group *>malloc(sizeof(Group))
    if group == NULL:
        raise MemoryError("no memory to verify a table")
    with nogil:
        for cls in range(first, last):
            here = verify_class(&tables.tables, &rule_set, own, opponent, cls, group, &at)
            if here and not errors:
                wrong = at
            errors += here
        free(group)
    return errors, wrong
