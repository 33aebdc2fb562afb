# Rules, boards from the side to move's view, and moves.
#
# Needs bitboard.pxi.

ctypedef uint32_t move_t     # to | origin << 5 | removed << 10 | second removed << 15

cpdef enum:
    NO_POINT = 31            # no origin (a placement), or no man removed
    NO_MOVE = 0xFFFFF        # NO_POINT in all four fields
    # As in game/rules.py.
    MEN_PER_SIDE = 9
    FLYING_MEN = 3
    MINIMUM_MEN = 3
    # Scores of the search, in hundredths of a man. A win that the search has proven n plies from
    # the root scores WIN - n. A position n plies from the root that the tablebase gives as won
    # scores TABLE_WIN - n.
    WIN = 32000
    PROVEN = 31000           # the least proven win
    TABLE_WIN = 30000
    LEAST_WIN = 29000        # the least win of the tablebase; from here on, scores count plies
    # Limits.
    MAX_DEPTH = 120          # plies
    MAX_LINES = 64           # principal variations of one search

cdef enum:
    INFINITE = WIN + 1
    MAX_EVALUATION = 20000
    MAX_PLY = 160            # distance from the root in plies, quiescence included
    MAX_HISTORY = 2000       # earlier positions of the game, as in game/position.py
    NEAR_DRAW = 32           # plies left to a draw by a limit, below which keys include them
    MAX_COUNT = 0xFFFF       # largest limit on plies or repetitions

cdef enum:
    FLYING_NEVER = 0
    FLYING_OWN = 1
    FLYING_BOTH = 2

cdef struct RuleSet:
    int flying
    bint locked_none         # no man is removed while all the opponent's men are in mills
    bint each_mill           # a move that closes two mills removes two men
    bint blocked_draws
    int repetition
    int no_removal_plies
    int three_three_plies

cdef struct Board:
    uint32_t own             # men of the side to move
    uint32_t opponent
    uint8_t own_hand
    uint8_t opponent_hand
    uint8_t own_total        # men on the board and in hand together
    uint8_t opponent_total
    uint16_t plies           # without a removal, since the last placement


cdef inline move_t encode(int origin, int to, int removed, int second) noexcept nogil:
    return <move_t>to | (<move_t>origin << 5) | (<move_t>removed << 10) | (<move_t>second << 15)


cdef inline int to_of(move_t move) noexcept nogil:
    return move & 31


cdef inline int origin_of(move_t move) noexcept nogil:
    return (move >> 5) & 31


cdef inline int removed_of(move_t move) noexcept nogil:
    return (move >> 10) & 31


cdef inline int second_removed_of(move_t move) noexcept nogil:
    return (move >> 15) & 31


# The mask of the men that a move removes. NO_POINT sets bit 31, which is no point.
cdef inline uint32_t removed_men(move_t move) noexcept nogil:
    return (1u << removed_of(move)) | (1u << second_removed_of(move))


cdef inline bint is_removal(move_t move) noexcept nogil:
    return removed_of(move) != NO_POINT


# The men of a side that the other side may remove next.
cdef inline uint32_t removable(const RuleSet *rules, uint32_t men) noexcept nogil:
    cdef uint32_t mills = in_mills(men)
    if unlikely(mills == men):
        return 0 if rules.locked_none else men
    return men & ~mills


# Whether a side with `total` men, `hand` of them in hand, may move to any empty point. The other
# side has `other_total` men, `other_hand` of them in hand.
cdef inline bint flies(const RuleSet *rules, int total, int hand, int other_total,
                       int other_hand) noexcept nogil:
    if total != FLYING_MEN and (other_total != FLYING_MEN or rules.flying != FLYING_BOTH):
        return False
    return hand == 0 and (rules.flying == FLYING_OWN
                          or (rules.flying == FLYING_BOTH and other_hand == 0))


cdef inline bint own_flies(const RuleSet *rules, const Board *b) noexcept nogil:
    return flies(rules, b.own_total, b.own_hand, b.opponent_total, b.opponent_hand)


cdef inline bint opponent_flies(const RuleSet *rules, const Board *b) noexcept nogil:
    return flies(rules, b.opponent_total, b.opponent_hand, b.own_total, b.own_hand)


# The empty points where the side to move can close a mill.
cdef inline uint32_t own_threats(const RuleSet *rules, const Board *b) noexcept nogil:
    return threats_of(b.own, ALL & ~(b.own | b.opponent),
                      <uint32_t>(ALL if b.own_hand or own_flies(rules, b) else 0))


# The empty points where each side can close a mill if it is to move, as a pair.
cdef inline uint64_t threats_on(const RuleSet *rules, const Board *b) noexcept nogil:
    return threats_of(
        pair(b.own, b.opponent), twice(ALL & ~(b.own | b.opponent)),
        pair(ALL if b.own_hand or own_flies(rules, b) else 0,
             ALL if b.opponent_hand or opponent_flies(rules, b) else 0))


# Whether the side to move has lost because it has fewer than three men.
cdef inline bint own_below_minimum(const Board *b) noexcept nogil:
    return b.own_total < MINIMUM_MEN


cdef inline bint either_below_minimum(const Board *b) noexcept nogil:
    return own_below_minimum(b) or b.opponent_total < MINIMUM_MEN


# Whether the side to move can place or move a man.
cdef inline bint can_move(const RuleSet *rules, const Board *b) noexcept nogil:
    return (b.own_hand != 0 or (reach(b.own) & ~(b.own | b.opponent)) != 0
            or own_flies(rules, b))


# Set the numbers of men on the board and in hand together.
cdef inline void count_men(Board *b) noexcept nogil:
    b.own_total = count(b.own) + b.own_hand
    b.opponent_total = count(b.opponent) + b.opponent_hand


# Whether a board is valid: at most one man on a point and nine on a side, and correct totals.
cdef inline bint is_sound(const Board *b) noexcept nogil:
    return (b.own & b.opponent) == 0 and (b.own | b.opponent) >> POINT_COUNT == 0 and (
        b.own_total == count(b.own) + b.own_hand <= MEN_PER_SIDE
        and b.opponent_total == count(b.opponent) + b.opponent_hand <= MEN_PER_SIDE)


# Whether a move takes a man of the side to move from the hand or `origin` to an empty point, and
# removes only men of the opponent. The move may break other rules.
cdef inline bint fits(const Board *b, move_t move) noexcept nogil:
    cdef int to = to_of(move), origin = origin_of(move)
    cdef int removed = removed_of(move), second = second_removed_of(move)
    if to >= POINT_COUNT or ((b.own | b.opponent) >> to) & 1 or move >> 20:
        return False
    if b.own_hand == 0 if origin == NO_POINT else not (b.own >> origin) & 1:
        return False
    if removed == NO_POINT:
        return second == NO_POINT
    return (b.opponent >> removed) & 1 and removed != second and (
        second == NO_POINT or (b.opponent >> second) & 1)


# Make a move: write the board after it, from the other side's view.
cdef inline void make(const Board *b, move_t move, Board *after) noexcept nogil:
    cdef uint32_t own = b.own | (1u << to_of(move))
    cdef uint32_t opponent = b.opponent
    cdef uint8_t hand = b.own_hand, opponent_total = b.opponent_total
    cdef int origin = origin_of(move)
    cdef int removed = removed_of(move)
    cdef uint16_t plies = b.plies + 1
    assert is_sound(b) and fits(b, move)
    if origin == NO_POINT:
        hand -= 1
        plies = 0
    else:
        own &= ~(1u << origin)
        if unlikely(hand | b.opponent_hand):
            plies = 0
    if removed != NO_POINT:
        opponent &= ~(1u << removed)
        opponent_total -= 1
        if unlikely(second_removed_of(move) != NO_POINT):
            opponent &= ~(1u << second_removed_of(move))
            opponent_total -= 1
        plies = 0
    after.own = opponent
    after.opponent = own
    after.own_hand = b.opponent_hand
    after.opponent_hand = hand
    after.own_total = opponent_total
    after.opponent_total = b.own_total
    after.plies = plies
    assert is_sound(after)


# The limit on plies without a removal for these numbers of men; 0: no limit.
cdef inline int plies_limit(const RuleSet *rules, int own, int opponent) noexcept nogil:
    cdef int limit = rules.no_removal_plies
    if own == 3 and opponent == 3 and rules.three_three_plies:
        if limit == 0 or rules.three_three_plies < limit:
            limit = rules.three_three_plies
    return limit


# Convert the tuples of convert.py to structures; ValueError for impossible values.
cdef RuleSet load_rules(tuple fields) except *:
    cdef RuleSet rules
    (rules.flying, rules.locked_none, rules.each_mill, rules.blocked_draws, rules.repetition,
     rules.no_removal_plies, rules.three_three_plies) = fields
    if not (FLYING_NEVER <= rules.flying <= FLYING_BOTH and 0 <= rules.repetition <= MAX_COUNT
            and rules.repetition != 1
            and 0 <= rules.no_removal_plies <= MAX_COUNT
            and 0 <= rules.three_three_plies <= MAX_COUNT):
        raise ValueError(f"impossible rules: {fields}")
    return rules


cdef inline Board load_board(tuple fields) except *:
    cdef Board b
    b.own, b.opponent, b.own_hand, b.opponent_hand, b.plies = fields
    count_men(&b)
    if not is_sound(&b):
        raise ValueError(f"impossible board: {fields}")
    return b
