# Move generation: all moves, those that close a mill or the others.
#
# Needs bitboard.pxi and board.pxi.

cdef enum:
    MAX_MOVES = 1536         # above 3 men x 12 points x C(9, 2) removals: with nine men on the
                             # board a side that flies finds no more empty points

cdef struct MoveList:
    int size
    move_t moves[MAX_MOVES]


cdef inline void add(MoveList *list, move_t move) noexcept nogil:
    assert 0 <= list.size < MAX_MOVES
    list.moves[list.size] = move
    list.size += 1


# The moves of one man to one point that close mills there, one for each set of men to remove.
cdef inline void add_closing(const RuleSet *rules, const Board *b, MoveList *list, int origin,
                             int to, int mills) noexcept nogil:
    cdef uint32_t left = removable(rules, b.opponent)
    if left == 0:
        add(list, encode(origin, to, NO_POINT, NO_POINT))
        return
    if unlikely(mills == 2 and rules.each_mill):
        add_double(rules, b.opponent, list, origin, to)
        return
    while left:
        add(list, encode(origin, to, lowest(left), NO_POINT))
        left &= left - 1


# The moves that remove two men: each pair once, if either order of removal is legal.
cdef void add_double(const RuleSet *rules, uint32_t opponent, MoveList *list, int origin,
                     int to) noexcept nogil:
    cdef uint32_t men = removable(rules, opponent)
    cdef uint32_t left = men, seconds
    cdef int removed, second
    while left:
        removed = lowest(left)
        left &= left - 1
        seconds = removable(rules, opponent & ~(1u << removed))
        if seconds == 0:
            add(list, encode(origin, to, removed, NO_POINT))
        while seconds:
            second = lowest(seconds)
            seconds &= seconds - 1
            if removed < second:
                add(list, encode(origin, to, removed, second))
            elif not ((men >> second) & 1 and
                      (removable(rules, opponent & ~(1u << second)) >> removed) & 1):
                add(list, encode(origin, to, second, removed))


# A man's steps in order of the points they lead to; NO_MOVE fills the rest.
cdef move_t STEPS[24][4]


# A man's steps to some points. Whether there is one hardly ever depends on what was before: each is
# written, and those that are none are written over.
cdef inline void add_steps(MoveList *list, int origin, uint32_t targets) noexcept nogil:
    cdef move_t move
    cdef int i
    for i in range(4):
        move = STEPS[origin][i]
        list.moves[list.size] = move
        list.size += (targets >> to_of(move)) & 1


# The moves from one origin (NO_POINT: placements) to some points, of which `risky` ones may close
# a mill; `closing` and `quiet` say which moves are wanted.
cdef inline void add_from(const RuleSet *rules, const Board *b, MoveList *list, int origin,
                          uint32_t targets, uint32_t risky, bint closing, bint quiet,
                          bint steps) noexcept nogil:
    cdef uint32_t men = b.own
    cdef int to, mills
    risky &= targets
    if quiet:
        targets ^= risky
        if steps:
            add_steps(list, origin, targets)
        while targets and not steps:
            to = lowest(targets)
            targets &= targets - 1
            add(list, encode(origin, to, NO_POINT, NO_POINT))
    if origin != NO_POINT:
        men &= ~(1u << origin)
    while risky:
        to = lowest(risky)
        risky &= risky - 1
        mills = mills_at(men, to)
        if mills:
            if closing:
                add_closing(rules, b, list, origin, to, mills)
        elif quiet:
            add(list, encode(origin, to, NO_POINT, NO_POINT))


# The side to move's moves that close a mill, the others (`quiet`), or both, in a fixed order; no
# side has too few men. `risky` is what `own_threats` finds.
cdef inline void generate_on(const RuleSet *rules, const Board *b, uint32_t risky, MoveList *list,
                             bint closing, bint quiet) noexcept nogil:
    cdef uint32_t empty = ALL & ~(b.own | b.opponent)
    cdef uint32_t left
    cdef int origin
    cdef bint flying
    assert is_sound(b) and not someone_short(b) and risky == own_threats(rules, b)
    list.size = 0
    if not quiet and not risky:
        return
    if b.own_hand:
        add_from(rules, b, list, NO_POINT, empty, risky, closing, quiet, False)
        return
    flying = own_flies(rules, b)
    left = b.own if flying else b.own & reach(empty if quiet else risky)
    while left:
        origin = lowest(left)
        left &= left - 1
        add_from(rules, b, list, origin, empty if flying else NEIGHBOURS[origin] & empty, risky,
                 closing, quiet, not flying)


# The same of any board: there are none where a side has too few men.
cdef inline void generate(const RuleSet *rules, const Board *b, MoveList *list, bint closing,
                          bint quiet) noexcept nogil:
    list.size = 0
    if likely(not someone_short(b)):
        generate_on(rules, b, own_threats(rules, b), list, closing, quiet)


cdef bint contains(const MoveList *list, move_t move) noexcept nogil:
    cdef int i
    for i in range(list.size):
        if list.moves[i] == move:
            return True
    return False


cdef bint is_generated(const RuleSet *rules, const Board *b, move_t move) noexcept nogil:
    cdef MoveList list
    generate(rules, b, &list, True, True)
    return contains(&list, move)


# Whether any number is a legal move of a board where no side has too few men. The masks tell,
# except where a move may remove two men.
cdef inline bint is_legal(const RuleSet *rules, const Board *b, move_t move) noexcept nogil:
    cdef int to = to_of(move), origin = origin_of(move)
    cdef uint32_t men = b.own, candidates
    if ((ALL & ~(b.own | b.opponent)) >> to) & 1 == 0:
        return False
    if b.own_hand:
        if origin != NO_POINT:
            return False
    else:
        if (men >> origin) & 1 == 0:
            return False
        men ^= 1u << origin
        if (NEIGHBOURS[origin] >> to) & 1 == 0 and not own_flies(rules, b):
            return False
    if likely(mills_at(men, to) == 0):
        return move >> 10 == NO_MOVE >> 10
    if unlikely(rules.each_mill):
        return is_generated(rules, b, move)
    candidates = removable(rules, b.opponent)
    if unlikely(candidates == 0):
        return move >> 10 == NO_MOVE >> 10
    return (candidates >> removed_of(move)) & 1 and move >> 15 == NO_POINT


cdef void load_steps() noexcept:
    cdef int origin, to, number
    for origin in range(POINT_COUNT):
        number = 0
        for to in range(POINT_COUNT):
            if (NEIGHBOURS[origin] >> to) & 1:
                STEPS[origin][number] = encode(origin, to, NO_POINT, NO_POINT)
                number += 1
        for number in range(number, 4):
            STEPS[origin][number] = NO_MOVE
