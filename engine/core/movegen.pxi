# The board from the side to move's view, and its moves: encoding, generation, making, counting.

ctypedef uint32_t move_t     # to | origin << 5 | first taken << 10 | second taken << 15

cdef enum:
    NOWHERE = 31             # no origin (a placement), or no man taken
    NO_MOVE = 0xFFFFFFFF
    MAX_MOVES = 1536        # above 3 men x 12 points x C(9, 2) removals: against nine men no
                             # more points are empty

cdef enum:
    FLYING_NEVER = 0
    FLYING_OWN = 1
    FLYING_BOTH = 2

cdef struct RuleSet:
    int flying
    bint locked_none         # men are safe when all of them stand in mills
    bint each_mill           # two mills closed at once take two men
    bint blocked_draws
    int repetition
    int no_removal_plies
    int three_three_plies

cdef struct Board:
    uint32_t own             # men of the side to move
    uint32_t opponent
    uint8_t own_hand
    uint8_t opponent_hand
    uint16_t plies           # without a removal, since the last man was placed

cdef struct MoveList:
    int size
    move_t moves[MAX_MOVES]


cdef inline move_t encode(int origin, int to, int first, int second) noexcept nogil:
    return <move_t>to | (<move_t>origin << 5) | (<move_t>first << 10) | (<move_t>second << 15)


cdef inline int to_of(move_t move) noexcept nogil:
    return move & 31


cdef inline int origin_of(move_t move) noexcept nogil:
    return (move >> 5) & 31


cdef inline int removed_of(move_t move) noexcept nogil:
    return (move >> 10) & 31


cdef inline int second_removed_of(move_t move) noexcept nogil:
    return (move >> 15) & 31


cdef inline bint is_removal(move_t move) noexcept nogil:
    return removed_of(move) != NOWHERE


# Which of a side's men may be taken next.
cdef inline uint32_t removable(const RuleSet *rules, uint32_t men) noexcept nogil:
    cdef uint32_t mills = in_mills(men)
    if unlikely(mills == men):
        return 0 if rules.locked_none else men
    return men & ~mills


# Whether the side with these men may move to any empty point.
cdef inline bint flies(const RuleSet *rules, uint32_t men, int hand, uint32_t others,
                       int others_hand) noexcept nogil:
    if hand or rules.flying == FLYING_NEVER:
        return False
    if rules.flying == FLYING_OWN:
        return count(men) == 3
    return others_hand == 0 and (count(men) == 3 or count(others) == 3)


cdef inline bint own_flies(const RuleSet *rules, const Board *b) noexcept nogil:
    return flies(rules, b.own, b.own_hand, b.opponent, b.opponent_hand)


cdef inline bint opponent_flies(const RuleSet *rules, const Board *b) noexcept nogil:
    return flies(rules, b.opponent, b.opponent_hand, b.own, b.own_hand)


cdef inline void add(MoveList *list, move_t move) noexcept nogil:
    assert 0 <= list.size < MAX_MOVES
    list.moves[list.size] = move
    list.size += 1


# Every move that closes mills by going from origin to a point, one for each set of men it takes.
cdef inline void add_closing(const RuleSet *rules, const Board *b, MoveList *list, int origin,
                             int to, int mills) noexcept nogil:
    cdef uint32_t men = removable(rules, b.opponent)
    cdef uint32_t left
    cdef int first
    if men == 0:
        add(list, encode(origin, to, NOWHERE, NOWHERE))
        return
    if unlikely(mills == 2 and rules.each_mill):
        add_double(rules, b.opponent, list, origin, to)
        return
    left = men
    while left:
        first = lowest(left)
        left &= left - 1
        add(list, encode(origin, to, first, NOWHERE))


# The moves that take two men: each pair once, when either order of taking it is legal.
cdef void add_double(const RuleSet *rules, uint32_t opponent, MoveList *list, int origin,
                     int to) noexcept nogil:
    cdef uint32_t firsts = removable(rules, opponent)
    cdef uint32_t left = firsts, seconds
    cdef int first, second
    while left:
        first = lowest(left)
        left &= left - 1
        seconds = removable(rules, opponent & ~(1u << first))
        if seconds == 0:
            add(list, encode(origin, to, first, NOWHERE))
        while seconds:
            second = lowest(seconds)
            seconds &= seconds - 1
            if first < second:
                add(list, encode(origin, to, first, second))
            elif not ((firsts >> second) & 1 and
                      (removable(rules, opponent & ~(1u << second)) >> first) & 1):
                add(list, encode(origin, to, second, first))


# How many sets of men a move that closes so many mills may take; at least one, the empty set.
cdef inline int count_removals(const RuleSet *rules, uint32_t opponent, int mills) noexcept nogil:
    cdef uint32_t men = removable(rules, opponent)
    cdef MoveList pairs
    if men == 0:
        return 1
    if likely(mills == 1 or not rules.each_mill):
        return count(men)
    pairs.size = 0
    add_double(rules, opponent, &pairs, NOWHERE, 0)
    return pairs.size


# Whether a side is reduced to two men.
cdef inline bint someone_short(const Board *b) noexcept nogil:
    return count(b.own) + b.own_hand < 3 or count(b.opponent) + b.opponent_hand < 3


# Whether the side to move has any placement or move.
cdef inline bint can_move(const RuleSet *rules, const Board *b) noexcept nogil:
    return (b.own_hand != 0 or (reach(b.own) & ~(b.own | b.opponent)) != 0
            or own_flies(rules, b))


# The moves from one origin (NOWHERE: a placement) to some points, of which `risky` ones may close
# a mill; `closing` and `quiet` say which moves are wanted.
cdef inline void add_from(const RuleSet *rules, const Board *b, MoveList *list, int origin,
                          uint32_t targets, uint32_t risky, bint closing,
                          bint quiet) noexcept nogil:
    cdef uint32_t men = b.own
    cdef int to, mills
    risky &= targets
    if quiet:
        targets ^= risky
        while targets:
            to = lowest(targets)
            targets &= targets - 1
            add(list, encode(origin, to, NOWHERE, NOWHERE))
    if origin != NOWHERE:
        men &= ~(1u << origin)
    while risky:
        to = lowest(risky)
        risky &= risky - 1
        mills = mills_at(men, to)
        if mills:
            if closing:
                add_closing(rules, b, list, origin, to, mills)
        elif quiet:
            add(list, encode(origin, to, NOWHERE, NOWHERE))


# All moves of the side to move, in a fixed order; none when a side is reduced to two men.
cdef inline void generate(const RuleSet *rules, const Board *b, MoveList *list, bint closing,
                          bint quiet) noexcept nogil:
    cdef uint32_t empty = ALL & ~(b.own | b.opponent)
    cdef uint32_t left, risky
    cdef int origin
    cdef bint flying
    assert sound_board(b)
    list.size = 0
    if unlikely(someone_short(b)):
        return
    flying = own_flies(rules, b)
    risky = threats_of(b.own, empty, flying or b.own_hand)
    if not quiet and not risky:
        return
    if b.own_hand:
        add_from(rules, b, list, NOWHERE, empty, risky, closing, quiet)
        return
    left = b.own if quiet or flying else b.own & reach(risky)
    while left:
        origin = lowest(left)
        left &= left - 1
        add_from(rules, b, list, origin, empty if flying else NEIGHBOURS[origin] & empty, risky,
                 closing, quiet)


# How many moves the side to move has, without making a list of them.
cdef inline int count_moves(const RuleSet *rules, const Board *b) noexcept nogil:
    cdef uint32_t empty = ALL & ~(b.own | b.opponent)
    cdef uint32_t left, risky, targets
    cdef int origin, to, mills, total, singles
    cdef bint flying
    if unlikely(someone_short(b)):
        return 0
    flying = own_flies(rules, b)
    risky = threats_of(b.own, empty, flying or b.own_hand)
    if b.own_hand:
        total = count(empty)
    elif flying:
        total = count(b.own) * count(empty)
    else:
        total = count_steps(b.own, empty)
    if risky == 0:
        assert total == listed(rules, b)
        return total
    singles = count_removals(rules, b.opponent, 1) - 1
    left = 1u << NOWHERE if b.own_hand else b.own
    while left:
        origin = lowest(left)
        left &= left - 1
        targets = risky if flying or origin == NOWHERE else risky & NEIGHBOURS[origin]
        while targets:
            to = lowest(targets)
            targets &= targets - 1
            mills = mills_at(b.own & ~(1u << origin), to)
            if mills == 1:
                total += singles
            elif mills:
                total += count_removals(rules, b.opponent, 2) - 1
    assert total == listed(rules, b)
    return total


# The board after a move, seen by the other side.
cdef inline void make(const Board *b, move_t move, Board *after) noexcept nogil:
    cdef uint32_t own = b.own | (1u << to_of(move))
    cdef uint32_t opponent = b.opponent
    cdef uint8_t hand = b.own_hand
    cdef int origin = origin_of(move)
    cdef int taken = removed_of(move)
    cdef uint16_t plies = b.plies + 1
    assert sound_board(b) and fits(b, move)
    if origin == NOWHERE:
        hand -= 1
        plies = 0
    else:
        own &= ~(1u << origin)
        if unlikely(hand | b.opponent_hand):
            plies = 0
    if taken != NOWHERE:
        opponent &= ~(1u << taken)
        if unlikely(second_removed_of(move) != NOWHERE):
            opponent &= ~(1u << second_removed_of(move))
        plies = 0
    after.own = opponent
    after.opponent = own
    after.own_hand = b.opponent_hand
    after.opponent_hand = hand
    after.plies = plies
    assert sound_board(after) and leads_back(after, move, b)


# The number of move sequences of so many plies, draws by counting not looked at.
cdef uint64_t perft_count(const RuleSet *rules, const Board *b, int depth) noexcept nogil:
    cdef MoveList list
    cdef Board after
    cdef uint64_t total = 0
    cdef int i
    if depth == 1:
        return count_moves(rules, b)
    generate(rules, b, &list, True, True)
    for i in range(list.size):
        make(b, list.moves[i], &after)
        total += perft_count(rules, &after, depth - 1)
    return total
