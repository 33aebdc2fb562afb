# The static evaluation, learnt from games and the tablebase.
#
# Each feature has a value of its own in each phase, which makes most of the evaluation, and a
# vector that is the same in all phases. The vectors' sum, clipped, is a hidden layer that says what
# the features mean together. weights.bin holds it all; merels.engine.training makes it.
#
# Needs board.pxi, evaluation/features.pxi.

cpdef enum:
    HIDDEN = 16              # neurons of the hidden layer, a multiple of LANES

cdef enum:
    NEURON_LANES = HIDDEN // LANES
    CACHE_LINE = 64          # bytes
    ONE = 512                # a neuron's greatest output
    OUTPUT_SHIFT = 12        # of a neuron's output times its weight, to hundredths of a man

# The numbers of weights.bin.
cdef struct Weights:
    int16_t value[PHASES][FEATURES]          # quarters of a hundredth of a man
    int16_t bias[PHASES][HIDDEN]
    int16_t output[PHASES][HIDDEN]
    int16_t vector[FEATURES][HIDDEN]

# The same as the search wants them: all that one feature adds to a sum in one cache line.
cdef struct Feature:
    Lanes vector[NEURON_LANES]
    int16_t value[PHASES]

cdef struct Layer:
    Lanes bias[NEURON_LANES]
    int16_t output[HIDDEN]

cdef Feature ROOM_FOR_FEATURES[FEATURES + 1]
cdef Feature *FEATURE = <Feature *>(
    (<size_t>ROOM_FOR_FEATURES + CACHE_LINE - 1) & ~<size_t>(CACHE_LINE - 1))
cdef Layer LAYER[PHASES]
WEIGHTS_SIZE = sizeof(Weights)

# What the hidden layer adds to the features' own values, whose sum is `value`.
cdef inline int hidden_layer(const int *at, int phase, int *value) noexcept nogil:
    cdef Lanes sums[NEURON_LANES]    # which load_weights keeps within 16 bits
    cdef int16_t *neuron = <int16_t *>sums
    cdef const Feature *feature
    cdef int i, j, together = 0
    value[0] = 0
    for j in range(NEURON_LANES):
        sums[j] = LAYER[phase].bias[j]
    for i in range(ACTIVE):
        feature = &FEATURE[at[i]]
        value[0] += feature.value[phase]
        for j in range(NEURON_LANES):
            add_lanes(&sums[j], &feature.vector[j])
    for j in range(HIDDEN):
        neuron[j] = 0 if neuron[j] < 0 else ONE if neuron[j] > ONE else neuron[j]
    for j in range(HIDDEN):
        together += <int>neuron[j] * <int>LAYER[phase].output[j]
    return together


# The static evaluation, and the threats of both sides as a pair.
cdef inline int evaluate_board(const RuleSet *rules, const Board *b,
                               uint64_t *threats) noexcept nogil:
    cdef int at[ACTIVE]
    cdef int value, together
    threats[0] = find_features(rules, b, at)
    together = hidden_layer(at, phase_of(rules, b), &value)
    return (value >> 2) + (together >> OUTPUT_SHIFT)


def evaluate(tuple rules not None, tuple fields not None):
    cdef RuleSet rule_set = load_rules(rules)
    cdef Board b = load_board(fields)
    cdef uint64_t threats
    return evaluate_board(&rule_set, &b, &threats)


def terms(tuple rules not None, tuple fields not None):
    cdef RuleSet rule_set = load_rules(rules)
    cdef Board b = load_board(fields)
    cdef int at[ACTIVE]
    cdef int phase = phase_of(&rule_set, &b)
    cdef int i, value
    find_features(&rule_set, &b, at)
    return [*[FEATURE[at[i]].value[phase] / 4 for i in range(ACTIVE)],
            hidden_layer(at, phase, &value) / (1 << OUTPUT_SHIFT)]


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


cdef void arrange(const Weights *weights) noexcept:
    cdef int i, phase
    for i in range(FEATURES):
        memcpy(FEATURE[i].vector, weights.vector[i], sizeof(weights.vector[i]))
        for phase in range(PHASES):
            FEATURE[i].value[phase] = weights.value[phase][i]
    for phase in range(PHASES):
        memcpy(LAYER[phase].bias, weights.bias[phase], sizeof(weights.bias[phase]))
        memcpy(LAYER[phase].output, weights.output[phase], sizeof(weights.output[phase]))


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
        arrange(weights)
    finally:
        free(weights)
