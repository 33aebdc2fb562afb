# The features of a position: patterns of men, and material.
#
# A position has eleven pattern features: the men on each of the four sides of the board, around
# each of its four corners, and on each ring. The nine points of a side, on all three rings, contain
# three lines along the side and one across, so the four sides cover the sixteen lines. Corners and
# rings add patterns around corners. Threats, steps and blocked men follow from these patterns and
# have no features of their own. Symmetric patterns are one feature, so the 16 symmetric images of a
# position have one value. Such look-up tables of fixed sets of points are Buro's patterns
# ("Experiments with Multi-ProbCut and a new high-quality evaluation function for Othello", 1997),
# also known as n-tuple networks.
#
# The material of a position is one more feature, in a list of its own: the men left to both sides,
# with the men in hand or who flies.
#
# In training, a position has thirteen rows of weights: one for each of its eleven patterns, one for
# the men left, and one for the men in hand or who flies. Rows that always occur together are summed
# at load time.
#
# Needs bitboard.pxi, board.pxi.

cdef extern from *:
    """
    /* A SIMD vector of eight numbers. */
    #if defined(__GNUC__) || defined(__clang__)
      typedef int16_t MerelsLanes __attribute__((vector_size(16)));
      #define MERELS_ADD(sum, lanes) (*(sum) += *(lanes))
    #else
      typedef struct { int16_t lane[8]; } MerelsLanes;
      static __inline void MERELS_ADD(MerelsLanes *sum, const MerelsLanes *lanes) {
          int i;
          for (i = 0; i < 8; i++)
              sum->lane[i] += lanes->lane[i];
      }
    #endif
    """
    ctypedef struct Lanes "MerelsLanes":
        pass
    void add_lanes "MERELS_ADD"(Lanes *sum, const Lanes *lanes) noexcept nogil

cdef enum:
    PHASES = 16
    QUARTERS = 4             # groups of phases with separate vectors
    PHASES_PER_QUARTER = PHASES // QUARTERS
    HIDDEN = 48              # neurons of the hidden layer, a multiple of 2 * LANES
    ACTIVE = 11              # pattern features of a position
    ROWS_PER_POSITION = 13
    LANES = 8                # numbers in Lanes
    SIDES = 5346             # patterns of a side: 3 ** 9, symmetric patterns counted once
    RINGS = 954              # patterns of a ring: 3 ** 8, symmetric patterns counted once
    HANDS = 3                # kinds of material: 0 to 3 who flies, HANDS + n for n men in hand
    KINDS = HANDS + 19
    MATERIALS = 100 * KINDS  # 100 pairs of men left to both sides, 0 to 9 each, for each kind

    # First index of each kind of pattern; sides begin at 0.
    AT_CORNERS = SIDES       # as many patterns as sides
    AT_OUTER = 2 * SIDES     # shared by the inner and the outer ring
    AT_MIDDLE = AT_OUTER + RINGS
    FEATURES = AT_MIDDLE + RINGS

    # First index of the other rows.
    AT_MEN = FEATURES
    AT_KINDS = AT_MEN + 100
    ROWS = AT_KINDS + KINDS

    ONE = 48                 # a neuron's input is clipped to 0 … ONE; its output is the square
    # Largest absolute values of the weights.
    LARGEST_IN_VECTOR = 42   # of a vector's numbers
    LARGEST_VALUE = 2978     # of a pattern's value, so that the sum of eleven fits into 16 bits
    LARGEST_PART = 15000     # of another row's value and of a bias; 16 bits hold the sum of two
    LARGEST_OUTPUT = 19418   # of an output weight, so that the weighted sum fits into 32 bits
    OUTPUT_SHIFT = 15        # scale of the weighted sum: 2 ** 15 is a hundredth of a man

# The numbers of weights.bin.
cdef struct Weights:
    int16_t value[PHASES][ROWS]              # quarters of a hundredth of a man
    int16_t bias[PHASES][HIDDEN]
    int16_t output[PHASES][HIDDEN]
    int8_t vector[QUARTERS][ROWS][HIDDEN]

# PATTERNS: by ring and byte of men, the summands of a position's pattern numbers (base 3), four for
# sides, then three for rings. The other tables map a pattern's number to its feature.
cdef Lanes PATTERNS[3][256]
cdef uint16_t SIDE_FEATURE[19683]
cdef uint16_t RING_FEATURE[6561]

WEIGHTS_SIZE = sizeof(Weights)
ROW_NAMES = ("sides",) * 4 + ("corners",) * 4 + (
    "inner ring", "middle ring", "outer ring", "men left", "men in hand, flying")


# The index of a position's material: 100 times the kind, plus the men left as two decimal digits.
cdef inline int material_of(const RuleSet *rules, const Board *b) noexcept nogil:
    cdef int hands = b.own_hand + b.opponent_hand
    cdef int kind = HANDS + hands
    if hands == 0:
        kind = own_flies(rules, b) + 2 * opponent_flies(rules, b)
    return 100 * kind + 10 * b.own_total + b.opponent_total


# The phase, which selects the weights: 0 to 7 while men are in hand (from many to few), 8 to 12 in
# the moving phase (from many men on the board to few), 13 to 15 by who flies.
cdef inline int phase_of(int material) noexcept nogil:
    cdef int kind = material // 100
    cdef int hands = kind - HANDS, men = material // 10 % 10 + material % 10
    if hands > 0:
        return 0 if hands >= 15 else (16 - hands) // 2
    if kind:
        return 12 + kind
    return 12 if men < 10 else 8 if men >= 16 else 16 - men // 2


# The numbers of all patterns. Their base-3 digits are points: 0 empty, 1 own man, 2 opponent's man.
cdef inline void find_patterns(uint32_t own, uint32_t opponent, Lanes *patterns) noexcept nogil:
    cdef Lanes opponent_sums = PATTERNS[0][opponent & 255]
    add_lanes(&opponent_sums, &PATTERNS[1][(opponent >> 8) & 255])
    add_lanes(&opponent_sums, &PATTERNS[2][opponent >> 16])
    patterns[0] = PATTERNS[0][own & 255]
    add_lanes(patterns, &PATTERNS[1][(own >> 8) & 255])
    add_lanes(patterns, &PATTERNS[2][own >> 16])
    add_lanes(patterns, &opponent_sums)
    add_lanes(patterns, &opponent_sums)


cdef inline bint are_features(const size_t *indices) noexcept nogil:
    cdef int i
    for i in range(ACTIVE):
        if indices[i] >= FEATURES:
            return False
    return True


# Find a position's pattern features. Unsigned types avoid sign extensions.
cdef inline void find_features(const Board *b, size_t *indices) noexcept nogil:
    cdef uint64_t turned = counterclockwise(pair(b.own, b.opponent))
    cdef Lanes patterns, corners
    cdef const uint16_t *number = <const uint16_t *>&patterns
    cdef const uint16_t *corner = <const uint16_t *>&corners
    cdef int i
    find_patterns(b.own, b.opponent, &patterns)
    # Rotated by one point, the corners are where the middles of the sides were.
    find_patterns(<uint32_t>turned, turned >> 32, &corners)
    for i in range(4):
        indices[i] = SIDE_FEATURE[number[i]]
        indices[4 + i] = AT_CORNERS + SIDE_FEATURE[corner[i]]
    indices[8] = AT_OUTER + RING_FEATURE[number[4]]
    indices[9] = AT_MIDDLE + RING_FEATURE[number[5]]
    indices[10] = AT_OUTER + RING_FEATURE[number[6]]
    assert are_features(indices)


# Find the rows of a position of this material, in the order of ROW_NAMES.
cdef inline void find_rows(const Board *b, int material, size_t *row) noexcept nogil:
    find_features(b, row)
    row[ACTIVE] = AT_MEN + material % 100
    row[ACTIVE + 1] = AT_KINDS + material // 100


# Number the patterns; symmetric patterns have the same number. Return the count of different
# numbers. `view` has `views` permutations of the pattern's points.
cdef int number_patterns(uint16_t *numbers, int size, int points, int views,
                         const int *view) noexcept:
    cdef int number, place, quotient, image, least, distinct = 0, i
    cdef int digit[9]
    cdef int power[9]
    power[0] = 1
    for i in range(1, points):
        power[i] = 3 * power[i - 1]
    for number in range(size):
        quotient = number
        for i in range(points):
            digit[i] = quotient % 3
            quotient //= 3
        least = number
        for place in range(views):
            image = 0
            for i in range(points):
                image += power[i] * digit[view[place * points + i]]
            if image < least:
                least = image
        if least == number:
            numbers[number] = distinct
            distinct += 1
        else:
            numbers[number] = numbers[least]
    return distinct


cdef void load_patterns() except *:
    cdef int view[8 * 9]
    cdef int mirror, swap, quarter, i, ring, men, power = 1
    cdef int ternary[256]        # the bits of a number read in base 3
    cdef int16_t *number
    for men in range(256):
        ternary[men] = (ternary[men >> 1] * 3 if men else 0) + (men & 1)
    for ring in range(3):
        power = 27 * power if ring else 1
        for men in range(256):
            number = <int16_t *>&PATTERNS[ring][men]
            # A side has three adjacent angles of each ring; the first is 7, 1, 3 or 5.
            for i in range(4):
                number[i] = ternary[((men << 1 | men >> 7) >> 2 * i) & 7] * power
            number[4 + ring] = ternary[men]
    # A side is symmetric under mirroring and under swapping the inner and the outer ring.
    for mirror in range(2):
        for swap in range(2):
            for i in range(9):
                view[9 * (2 * mirror + swap) + i] = (
                    3 * (2 - i // 3 if swap else i // 3) + (2 - i % 3 if mirror else i % 3))
    i = number_patterns(SIDE_FEATURE, 19683, 9, 4, view)
    if i != SIDES:
        raise SystemError(f"expected {SIDES} patterns of a side, found {i}")
    for mirror in range(2):
        for quarter in range(4):
            for i in range(8):
                view[8 * (4 * mirror + quarter) + i] = (
                    2 * quarter + (8 - i if mirror else i)) % 8
    i = number_patterns(RING_FEATURE, 6561, 8, 8, view)
    if i != RINGS:
        raise SystemError(f"expected {RINGS} patterns of a ring, found {i}")
