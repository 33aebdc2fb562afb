# The static evaluation: counted features of both sides times weights that depend on the phase.

cdef enum:
    PLACING = 0
    MOVING = 1
    FLYING = 2               # at least one side flies
    PHASES = 3

cdef enum:
    MEN = 0                  # on the board and in hand
    MILLS = 1                # lines filled
    THREATS = 2              # empty points where the next turn could close a mill
    OPEN_LINES = 3           # empty points that would fill a line, reachable or not
    MOBILITY = 4             # pairs of a man and an empty neighbour
    BLOCKED = 5              # men without an empty neighbour
    CROSSINGS = 6            # men on points with four neighbours
    FEATURES = 7

cdef struct Weights:
    int32_t of[3][7]         # phase, feature; hundredths of a man
    int32_t tempo[3]

FEATURE_NAMES = ("men", "mills", "threats", "open lines", "mobility", "blocked", "crossings")

cdef enum:
    CROSSING_POINTS = 0x005500


cdef inline int phase_of(const Board *b) noexcept nogil:
    if b.own_hand | b.opponent_hand:
        return PLACING
    return FLYING if count(b.own) <= 3 or count(b.opponent) <= 3 else MOVING


# One side's features.
cdef inline void features_of(uint32_t men, int hand, uint32_t empty, bint anywhere,
                             int *features) noexcept nogil:
    cdef uint32_t first, second, sides, crossings, near
    closing_points(men, &first, &second)
    sides = men & clockwise(men) & counter(men) & MIDDLES
    crossings = men & (men >> 8) & (men >> 16) & 0x55
    near = reach(empty)
    features[MEN] = count(men) + hand
    features[MILLS] = count(sides) + count(crossings)
    features[THREATS] = count(threats_of(men, empty, anywhere))
    features[OPEN_LINES] = count((first | second) & empty)
    features[MOBILITY] = count_steps(men, empty)
    features[BLOCKED] = count(men & ~near)
    features[CROSSINGS] = count(men & CROSSING_POINTS)


# Both sides' features.
cdef inline void all_features(const RuleSet *rules, const Board *b, int *own,
                              int *opponent) noexcept nogil:
    cdef uint32_t empty = ALL & ~(b.own | b.opponent)
    features_of(b.own, b.own_hand, empty, b.own_hand or own_flies(rules, b), own)
    features_of(b.opponent, b.opponent_hand, empty, b.opponent_hand or flies(
        rules, b.opponent, b.opponent_hand, b.own, b.own_hand), opponent)


# The evaluation from the side to move's view, in hundredths of a man.
cdef inline int evaluate_board(const RuleSet *rules, const Weights *weights,
                               const Board *b) noexcept nogil:
    cdef int own[FEATURES]
    cdef int opponent[FEATURES]
    cdef int phase = phase_of(b), value = weights.tempo[phase], i
    all_features(rules, b, own, opponent)
    for i in range(FEATURES):
        value += weights.of[phase][i] * (own[i] - opponent[i])
    return value


cdef Weights load_weights(tuple table) except *:
    """Weights from one row a phase: the features' weights, then the tempo's."""
    cdef Weights weights
    for phase in range(PHASES):
        *values, weights.tempo[phase] = table[phase]
        for feature in range(FEATURES):
            weights.of[phase][feature] = values[feature]
    return weights
