# The static evaluation: pattern tables and a hidden layer, learnt from games and the tablebase.
#
# A position has fifteen features of one list: the pattern of men on each of the four sides of the
# square and on each ring, the men left to both sides, both hands, and six counts. The nine points
# of a side, over all three rings, hold its three lines and the crossing that cuts them, so the
# four sides cover the sixteen lines; the rings add what goes round corners. Mirror images are one
# feature, so all sixteen symmetric views of a position have one value. Such tables, indexed by the
# contents of fixed sets of points, are Buro's patterns ("Experiments with Multi-ProbCut and a new
# high-quality evaluation function for Othello", 1997), called n-tuple networks elsewhere.
#
# Each feature has a value of its own in each phase, which makes most of the evaluation, and a
# vector that is the same in all phases. The vectors' sum, clipped, is a hidden layer that says what
# the features mean together. weights.bin holds it all; merels.engine.training makes it.
#
# Needs bitboard.pxi, board.pxi.

cpdef enum:
    PHASES = 12
    ACTIVE = 15              # features of one position
    HIDDEN = 16              # neurons of the hidden layer

cdef enum:
    SIDES = 5346             # patterns of a side: 3 ** 9, less mirror images and rings swapped
    RINGS = 954              # patterns of a ring: 3 ** 8, less rotations and mirror images
    COUNTS = 6
    COUNTED = 32             # what a count may be, 0 to 31
    ONE = 512                # a neuron's greatest output
    OUTPUT_SHIFT = 12        # of a neuron's output times its weight, to hundredths of a man

cpdef enum:
    # Where each kind of feature starts; those of the sides begin at 0.
    AT_OUTER = SIDES         # the inner and the outer ring share theirs
    AT_MIDDLE = AT_OUTER + RINGS
    AT_MEN = AT_MIDDLE + RINGS
    AT_HANDS = AT_MEN + 100
    AT_THREATS = AT_HANDS + 100
    AT_STEPS = AT_THREATS + 2 * COUNTED
    AT_BLOCKED = AT_STEPS + 2 * COUNTED
    FEATURES = AT_BLOCKED + 2 * COUNTED

cdef struct Weights:
    int16_t value[PHASES][FEATURES]          # quarters of a hundredth of a man
    int16_t bias[PHASES][HIDDEN]
    int16_t output[PHASES][HIDDEN]
    int16_t vector[FEATURES][HIDDEN]

cdef Weights WEIGHTS
WEIGHTS_SIZE = sizeof(Weights)

cdef uint16_t TERNARY[512]   # the bits of a number read in base 3
cdef int16_t SIDE_FEATURE[19683]
cdef int16_t RING_FEATURE[6561]

FEATURE_NAMES = ("side",) * 4 + ("inner ring", "middle ring", "outer ring", "men", "hands",
                 "own threats", "opponent's threats", "own steps", "opponent's steps",
                 "own blocked men", "opponent's blocked men")


# Which weights a position uses: by men in hand, then by who flies and by men on the board.
cdef inline int phase_of(const RuleSet *rules, const Board *b) noexcept nogil:
    cdef int number = b.own_hand + b.opponent_hand
    cdef bint own, opponent
    if number:
        return 0 if number >= 13 else 1 if number >= 9 else 2 if number >= 5 else 3
    own = own_flies(rules, b)
    opponent = opponent_flies(rules, b)
    if own | opponent:
        return 11 if own and opponent else 9 if own else 10
    number = count(b.own | b.opponent)
    return 8 if number < 10 else 7 if number < 12 else 6 if number < 14 else 5 if number < 16 else 4


# The nine bits of one side of the square: three neighbouring angles, starting at `shift`.
cdef inline int side_bits(uint32_t men, int shift) noexcept nogil:
    men = (men >> shift) & 0x070707
    return (men & 0x7) | ((men >> 5) & 0x38) | ((men >> 10) & 0x1C0)


# A pattern of points in base 3: 0 empty, 1 the side to move's man, 2 the opponent's.
cdef inline int pattern(int own, int opponent) noexcept nogil:
    return TERNARY[own] + 2 * TERNARY[opponent]


cdef inline bint are_features(const int *at) noexcept nogil:
    cdef int i
    for i in range(ACTIVE):
        if not 0 <= at[i] < FEATURES:
            return False
    return True


# A position's features, named in FEATURE_NAMES.
cdef inline void find_features(const RuleSet *rules, const Board *b, int *at) noexcept nogil:
    cdef uint32_t own = clockwise(b.own), opponent = clockwise(b.opponent)
    cdef uint32_t empty = ALL & ~(b.own | b.opponent)
    cdef uint32_t near = reach(empty)
    cdef int i
    # The sides start at angles 7, 1, 3 and 5; one step clockwise makes them 0, 2, 4 and 6.
    for i in range(3):
        at[i] = SIDE_FEATURE[pattern(side_bits(own, 2 * i), side_bits(opponent, 2 * i))]
    at[3] = SIDE_FEATURE[pattern(side_bits(b.own, 5), side_bits(b.opponent, 5))]
    at[4] = AT_OUTER + RING_FEATURE[pattern(b.own & 255, b.opponent & 255)]
    at[5] = AT_MIDDLE + RING_FEATURE[pattern((b.own >> 8) & 255, (b.opponent >> 8) & 255)]
    at[6] = AT_OUTER + RING_FEATURE[pattern(b.own >> 16, b.opponent >> 16)]
    at[7] = AT_MEN + 10 * (count(b.own) + b.own_hand) + count(b.opponent) + b.opponent_hand
    at[8] = AT_HANDS + 10 * b.own_hand + b.opponent_hand
    # Empty points where the next move could close a mill.
    at[9] = AT_THREATS + count(threats_of(b.own, empty, b.own_hand or own_flies(rules, b)))
    at[10] = AT_THREATS + COUNTED + count(threats_of(
        b.opponent, empty, b.opponent_hand or opponent_flies(rules, b)))
    at[11] = AT_STEPS + count_steps(b.own, empty)
    at[12] = AT_STEPS + COUNTED + count_steps(b.opponent, empty)
    # Men without an empty neighbour.
    at[13] = AT_BLOCKED + count(b.own & ~near)
    at[14] = AT_BLOCKED + COUNTED + count(b.opponent & ~near)
    assert are_features(at)


# What the hidden layer adds to the features' values.
cdef inline int hidden_layer(const int *at, int phase) noexcept nogil:
    cdef int16_t sums[HIDDEN]    # which load_weights keeps within 16 bits
    cdef int i, j, value = 0
    for j in range(HIDDEN):
        sums[j] = WEIGHTS.bias[phase][j]
    for i in range(ACTIVE):
        for j in range(HIDDEN):
            sums[j] = sums[j] + WEIGHTS.vector[at[i]][j]
    for j in range(HIDDEN):
        sums[j] = 0 if sums[j] < 0 else ONE if sums[j] > ONE else sums[j]
    for j in range(HIDDEN):
        value += <int>sums[j] * <int>WEIGHTS.output[phase][j]
    return value


cdef inline int evaluate_board(const RuleSet *rules, const Board *b) noexcept nogil:
    cdef int at[ACTIVE]
    cdef int phase = phase_of(rules, b)
    cdef int i, value = 0
    find_features(rules, b, at)
    for i in range(ACTIVE):
        value += WEIGHTS.value[phase][at[i]]
    return (value >> 2) + (hidden_layer(at, phase) >> OUTPUT_SHIFT)


def evaluate(tuple rules, tuple fields):
    cdef RuleSet rule_set = load_rules(rules)
    cdef Board b = load_board(fields)
    return evaluate_board(&rule_set, &b)


def terms(tuple rules, tuple fields):
    cdef RuleSet rule_set = load_rules(rules)
    cdef Board b = load_board(fields)
    cdef int at[ACTIVE]
    cdef int phase = phase_of(&rule_set, &b)
    find_features(&rule_set, &b, at)
    return [*[WEIGHTS.value[phase][at[i]] / 4 for i in range(ACTIVE)],
            hidden_layer(at, phase) / (1 << OUTPUT_SHIFT)]


# Number the patterns, mirror images alike; returns how many numbers there are.
cdef int number_patterns(int16_t *numbers, int size, int points, int views,
                         const int *view) noexcept:
    cdef int number, place, rest, image, least, found = 0, i
    cdef int digit[9]
    cdef int power[9]
    power[0] = 1
    for i in range(1, points):
        power[i] = 3 * power[i - 1]
    for number in range(size):
        rest = number
        for i in range(points):
            digit[i] = rest % 3
            rest //= 3
        least = number
        for place in range(views):
            image = 0
            for i in range(points):
                image += power[i] * digit[view[place * points + i]]
            if image < least:
                least = image
        if least == number:
            numbers[number] = found
            found += 1
        else:
            numbers[number] = numbers[least]
    return found


cdef void load_patterns() except *:
    cdef int view[8 * 9]
    cdef int mirror, other, quarter, i
    for bits in range(512):
        TERNARY[bits] = int(f"{bits:b}", 3)
    # A side keeps its value when its ends, or its inner and outer ring, change places.
    for mirror in range(2):
        for other in range(2):
            for i in range(9):
                view[9 * (2 * mirror + other) + i] = (
                    3 * (2 - i // 3 if other else i // 3) + (2 - i % 3 if mirror else i % 3))
    i = number_patterns(SIDE_FEATURE, 19683, 9, 4, view)
    if i != SIDES:
        raise SystemError(f"{i} patterns of a side")
    for mirror in range(2):
        for quarter in range(4):
            for i in range(8):
                view[8 * (4 * mirror + quarter) + i] = (
                    2 * quarter + (8 - i if mirror else i)) % 8
    i = number_patterns(RING_FEATURE, 6561, 8, 8, view)
    if i != RINGS:
        raise SystemError(f"{i} patterns of a ring")


# The kinds of features: where each starts and ends, and how many features of it a position has.
_KINDS = ((0, SIDES, 4), (AT_OUTER, AT_MIDDLE, 2), (AT_MIDDLE, AT_MEN, 1), (AT_MEN, AT_HANDS, 1),
          (AT_HANDS, AT_THREATS, 1),
          *((AT_THREATS + COUNTED * i, AT_THREATS + COUNTED * (i + 1), 1) for i in range(COUNTS)))


# Bounds what any position can make of a neuron's sum: its largest bias, and of each kind of
# feature the largest weight.
cdef int largest_sum(const Weights *weights, int neuron) except -1:
    cdef int i, first, end, uses, largest = 0, total
    for i in range(PHASES):
        largest = max(largest, abs(<int>weights.bias[i][neuron]))
    total = largest
    for first, end, uses in _KINDS:
        largest = 0
        for i in range(first, end):
            largest = max(largest, abs(<int>weights.vector[i][neuron]))
        total += uses * largest
    return total


def load_weights(bytes data):
    cdef const uint8_t *raw = data
    cdef Weights *weights
    cdef int i
    if len(data) != sizeof(Weights):
        raise ValueError(f"expected {sizeof(Weights)} bytes of weights, found {len(data)}")
    weights = <Weights *>malloc(sizeof(Weights))
    if weights == NULL:
        raise MemoryError("no memory for the weights")
    try:
        for i in range(<int>sizeof(Weights) // 2):
            (<int16_t *>weights)[i] = <int16_t>(raw[2 * i] | (raw[2 * i + 1] << 8))
        for i in range(HIDDEN):
            if largest_sum(weights, i) > 32767:
                raise ValueError(f"the weights of neuron {i} may overflow")
        memcpy(&WEIGHTS, weights, sizeof(Weights))
    finally:
        free(weights)
