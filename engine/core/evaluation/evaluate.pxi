# The static evaluation, learnt from games and the tablebase.
#
# Each feature has a value of its own in each phase, which makes most of the evaluation, and a
# vector of its own in each quarter of the phases. The vectors' sum, clipped, is a hidden layer that
# says what the features mean together. weights.bin holds it all; merels.engine.training makes it.
#
# A vector's numbers are bytes, so that all of a feature is one cache line. Sums have 16 bits.
#
# Needs board.pxi, evaluation/features.pxi.

cdef extern from *:
    """
    /* Eight pairs of bytes, 0 to 255. A lane's sum is that of its lower bytes and 256 times that of
     * its upper ones, which have a sum of their own: so none needs to be widened. */
    #if defined(__GNUC__) || defined(__clang__)
      typedef uint16_t MerelsPairs __attribute__((vector_size(16)));
      #define MERELS_ADD_PAIRS(sum, upper, pairs) \
          (*(sum) += *(pairs), *(upper) += *(pairs) >> 8)
      #define MERELS_TAKE_UPPER(sum, upper) (*(sum) -= *(upper) << 8)
    #else
      typedef struct { uint16_t lane[8]; } MerelsPairs;
      static __inline void MERELS_ADD_PAIRS(MerelsPairs *sum, MerelsPairs *upper,
                                            const MerelsPairs *pairs) {
          int i;
          for (i = 0; i < 8; i++) {
              sum->lane[i] += pairs->lane[i];
              upper->lane[i] += pairs->lane[i] >> 8;
          }
      }
      static __inline void MERELS_TAKE_UPPER(MerelsPairs *sum, const MerelsPairs *upper) {
          int i;
          for (i = 0; i < 8; i++)
              sum->lane[i] -= upper->lane[i] << 8;
      }
    #endif
    """
    ctypedef struct Pairs "MerelsPairs":
        pass
    void add_pairs "MERELS_ADD_PAIRS"(Pairs *sum, Pairs *upper, const Pairs *pairs) noexcept nogil
    void take_upper "MERELS_TAKE_UPPER"(Pairs *sum, const Pairs *upper) noexcept nogil

cpdef enum:
    HIDDEN = 48              # neurons of the hidden layer, a multiple of 2 * LANES
    QUARTERS = 4             # of the phases: each has vectors of its own

cdef enum:
    NEURON_PAIRS = HIDDEN // (2 * LANES)
    QUARTER = PHASES // QUARTERS
    ALL_VECTORS = QUARTERS * FEATURES
    CACHE_LINE = 64          # bytes
    ONE = 96                 # a neuron's greatest output
    LARGEST = 127            # in size, of a vector's numbers
    NOUGHT = 128             # what stands for 0 in a pair
    LARGEST_BIAS = 30000     # in size, so that no sum overflows
    OUTPUT_SHIFT = 12        # of a neuron's output times its weight, to hundredths of a man

# The numbers of weights.bin.
cdef struct Weights:
    int16_t value[PHASES][FEATURES]          # quarters of a hundredth of a man
    int16_t bias[PHASES][HIDDEN]
    int16_t output[PHASES][HIDDEN]
    int8_t vector[ALL_VECTORS][HIDDEN]

# The same as the search wants them: all that one feature adds in a quarter of the phases, in one
# cache line.
cdef struct Feature:
    Pairs vector[NEURON_PAIRS]
    int16_t value[QUARTER]
    int16_t unused[QUARTER]

cdef struct Layer:
    Pairs bias[2 * NEURON_PAIRS]             # where sums begin
    int16_t output[HIDDEN]

cdef Feature ROOM_FOR_FEATURES[ALL_VECTORS + 1]
cdef Feature *FEATURE = <Feature *>(
    (<size_t>ROOM_FOR_FEATURES + CACHE_LINE - 1) & ~<size_t>(CACHE_LINE - 1))
cdef Layer LAYER[PHASES]
WEIGHTS_SIZE = sizeof(Weights)

# What the hidden layer adds to the features' own values, whose sum is `value`.
cdef inline int hidden_layer(const int *at, int phase, int *value) noexcept nogil:
    cdef const Layer *layer = &LAYER[phase]
    cdef const Feature *features = &FEATURE[phase // QUARTER * FEATURES]
    cdef const Feature *feature[ACTIVE]
    cdef Pairs sums[2 * NEURON_PAIRS]
    cdef Pairs sum, upper                    # of all bytes, and of the upper ones
    cdef int16_t *neuron = <int16_t *>sums
    cdef int i, j, together = 0
    value[0] = 0
    for i in range(ACTIVE):
        feature[i] = &features[at[i]]
        value[0] += feature[i].value[phase % QUARTER]
    # A few neurons at a time, so that their sums stay in registers.
    for j in range(NEURON_PAIRS):
        sum = layer.bias[2 * j]
        upper = layer.bias[2 * j + 1]
        for i in range(ACTIVE):
            add_pairs(&sum, &upper, &feature[i].vector[j])
        take_upper(&sum, &upper)
        sums[2 * j] = sum
        sums[2 * j + 1] = upper
    for j in range(HIDDEN):
        neuron[j] = 0 if neuron[j] < 0 else ONE if neuron[j] > ONE else neuron[j]
    for j in range(HIDDEN):
        together += <int>neuron[j] * <int>layer.output[j]
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
    cdef const Feature *features = &FEATURE[phase // QUARTER * FEATURES]
    find_features(&rule_set, &b, at)
    return [*[features[at[i]].value[phase % QUARTER] / 4 for i in range(ACTIVE)],
            hidden_layer(at, phase, &value) / (1 << OUTPUT_SHIFT)]


# Pair sixteen neurons' numbers: the first eight are the lower bytes, the others the upper ones.
cdef inline void pair_up(uint16_t *pair, const int *numbers) noexcept:
    cdef int i
    for i in range(LANES):
        pair[i] = <uint16_t>(numbers[i] + 256 * numbers[LANES + i])


cdef void arrange(const Weights *weights) noexcept:
    cdef int i, j, k, phase
    cdef int numbers[2 * LANES]
    cdef uint16_t *upper
    for i in range(ALL_VECTORS):
        for j in range(NEURON_PAIRS):
            for k in range(2 * LANES):
                numbers[k] = weights.vector[i][2 * LANES * j + k] + NOUGHT
            pair_up(<uint16_t *>&FEATURE[i].vector[j], numbers)
    for phase in range(PHASES):
        for j in range(NEURON_PAIRS):
            for k in range(2 * LANES):
                numbers[k] = weights.bias[phase][2 * LANES * j + k] - ACTIVE * NOUGHT
            pair_up(<uint16_t *>&LAYER[phase].bias[2 * j], numbers)
            upper = <uint16_t *>&LAYER[phase].bias[2 * j + 1]
            for k in range(LANES):
                upper[k] = <uint16_t>numbers[LANES + k]
        memcpy(LAYER[phase].output, weights.output[phase], sizeof(weights.output[phase]))
        for i in range(FEATURES):
            FEATURE[phase // QUARTER * FEATURES + i].value[phase % QUARTER] = (
                weights.value[phase][i])


def load_weights(bytes data):
    cdef const uint8_t *raw = data
    cdef Weights *weights
    cdef const int16_t *bias
    cdef int i
    cdef int numbers = (sizeof(Weights) - ALL_VECTORS * HIDDEN) // 2
    if len(data) != sizeof(Weights):
        raise ValueError(f"expected {sizeof(Weights)} bytes of weights, found {len(data)}")
    weights = <Weights *>malloc(sizeof(Weights))
    if weights == NULL:
        raise MemoryError("no memory for the weights")
    try:
        for i in range(numbers):
            (<int16_t *>weights)[i] = <int16_t>(raw[2 * i] | (raw[2 * i + 1] << 8))
        memcpy(weights.vector, raw + 2 * numbers, ALL_VECTORS * HIDDEN)
        bias = &weights.bias[0][0]
        for i in range(PHASES * HIDDEN):
            if abs(<int>bias[i]) > LARGEST_BIAS:
                raise ValueError(f"a bias of {bias[i]} may overflow")
        arrange(weights)
    finally:
        free(weights)
