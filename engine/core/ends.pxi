# The end of the game: keys of positions, repetitions, and draws by counting (by repetition, or by a
# limit on plies without a removal).
#
# Needs bitboard.pxi, board.pxi.

cdef struct Game:
    RuleSet rules
    int base                 # index of the root in `path`
    uint64_t path[MAX_HISTORY + MAX_PLY + 8]     # keys: the game's positions, then the search's
    # For each position of the path, a Bloom filter with one hash: the bit of the position, and the
    # bits of the positions that it may repeat.
    uint64_t marks[MAX_HISTORY + MAX_PLY + 8]
    uint64_t recurring       # hash of the positions that draw if they recur once more; 0: none


# The exact key of a board, from the side to move's view. After a first ply without a removal, the
# top byte has the plies left to a draw by a limit, if the value may depend on them: always under
# the short limit for three men each, else only if fewer than NEAR_DRAW are left.
cdef inline uint64_t key_of(const RuleSet *rules, const Board *b) noexcept nogil:
    cdef uint64_t key = b.own | (<uint64_t>b.opponent << 24) | (
        <uint64_t>b.own_hand << 48) | (<uint64_t>b.opponent_hand << 52)
    cdef int plies_left
    if b.plies == 0:
        return key
    if rules.three_three_plies and b.own_total == 3 and b.opponent_total == 3:
        plies_left = plies_limit(rules, 3, 3) - b.plies
        key |= <uint64_t>(128 + (plies_left if plies_left < 127 else 127)) << 56
    elif rules.no_removal_plies:
        plies_left = rules.no_removal_plies - b.plies
        if plies_left < NEAR_DRAW:
            key |= <uint64_t>(plies_left + 1) << 56
    return key


# Whether two keys are of the same position, whose plies to a draw may differ.
cdef inline bint same_position(uint64_t key, uint64_t other) noexcept nogil:
    return (key ^ other) << 8 == 0


# The bit of a position in a Bloom filter; it does not depend on the plies in the key.
cdef inline uint64_t mark_of(uint64_t key) noexcept nogil:
    return <uint64_t>1 << (((key << 8) * GOLDEN) >> 58)


# Add a position of the search to the path.
cdef inline void push_key(Game *game, const Board *b, uint64_t key, int ply) noexcept nogil:
    cdef int index = game.base + ply
    game.path[index] = key
    game.marks[index] = mark_of(key) | (game.marks[index - 2] if b.plies >= 2 and index >= 2 else 0)


# Whether a position at this ply of the path is a draw by repetition. A first recurrence within the
# search is a draw under any rules, because a side that can repeat once can repeat again. Positions
# of the game before the root must occur as often as the rules require.
cdef inline bint is_repetition(const Game *game, uint64_t key, int ply, int plies) noexcept nogil:
    cdef int index = game.base + ply, distance = 4, occurrences = 1
    assert 0 <= ply and 0 <= game.base <= MAX_HISTORY
    if plies < 4 or index < 4 or not game.marks[index - 4] & mark_of(key):
        return False
    while distance <= plies and distance <= index:
        if same_position(game.path[index - distance], key):
            if distance <= ply:
                return True
            occurrences += 1
            if game.rules.repetition and occurrences >= game.rules.repetition:
                return True
        distance += 2
    return False


# Whether a position one ply after the root occurred in the game, with the same side to move.
cdef inline bint is_in_game(const Game *game, uint64_t key) noexcept nogil:
    cdef int i
    for i in range(game.base - 1, -1, -2):
        if same_position(game.path[i], key):
            return True
    return False


# Reasons for the end of a game, as indices of _REASONS.
cdef enum:
    GOES_ON = 0
    BY_MEN = 1
    BY_BLOCKING = 2
    BY_THREE = 3
    BY_PLIES = 4
    BY_REPETITION = 5

_REASONS = ("", "men", "blocked", "three", "norem", "repetition")


# Return why a position ends the game, or GOES_ON; set `value` to its score.
cdef inline int terminal_reason(const Game *game, const Board *b, uint64_t key, int ply,
                                int *value) noexcept nogil:
    cdef const RuleSet *rules = &game.rules
    if unlikely(own_below_minimum(b)):
        value[0] = -WIN + ply
        return BY_MEN
    if unlikely(not can_move(rules, b)):
        value[0] = 0 if rules.blocked_draws else -WIN + ply
        return BY_BLOCKING
    value[0] = 0
    if b.plies == 0 or (b.own_hand | b.opponent_hand):
        return GOES_ON
    if is_repetition(game, key, ply, b.plies):
        return BY_REPETITION
    if rules.three_three_plies and b.plies >= rules.three_three_plies:
        if b.own_total == 3 and b.opponent_total == 3:
            return BY_THREE
    if rules.no_removal_plies and b.plies >= rules.no_removal_plies:
        return BY_PLIES
    return GOES_ON


# A hash of the positions of the game's history that draw the game if they recur once more.
cdef uint64_t recurring_positions(const Game *game) noexcept nogil:
    cdef uint64_t sum = 0
    cdef int i, j, occurrences
    for i in range(game.base):
        occurrences = 1
        for j in range(i - 2, -1, -2):
            if not game.marks[j] & mark_of(game.path[i]):
                break
            occurrences += same_position(game.path[j], game.path[i])
        if occurrences == game.rules.repetition - 1:
            sum += mix(game.path[i] << 8)
    return sum


cdef int load_game(Game *game, tuple rules, history) except -1:
    cdef int i
    cdef list keys = list(history[-MAX_HISTORY:])
    game.rules = load_rules(rules)
    if len(keys) > MAX_HISTORY:
        raise ValueError(f"a slice of the history has {len(keys)} keys, more than {MAX_HISTORY}")
    game.base = len(keys)
    for i in range(game.base):
        game.path[i] = keys[i]
        game.marks[i] = mark_of(game.path[i]) | (game.marks[i - 2] if i >= 2 else 0)
    game.recurring = recurring_positions(game)
    return 0


def outcome(tuple rules not None, tuple fields not None, history):
    cdef Board b = load_board(fields)
    cdef Game game
    cdef int value = 0, reason
    if not own_below_minimum(&b) and either_below_minimum(&b):
        return "men", 1
    load_game(&game, rules, history)
    reason = terminal_reason(&game, &b, key_of(&game.rules, &b), 0, &value)
    return _REASONS[reason], (value > 0) - (value < 0)
