# The static evaluation, learnt from games and the tablebase.
#
# Each feature has a value of its own in each phase, which makes most of the evaluation, and a
# vector that is the same in all phases. The vectors' sum, clipped, is a hidden layer that says what
# the features mean together. weights.bin holds it all; merels.engine.training makes it.
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
    HIDDEN = 32              # neurons of the hidden layer, a multiple of 2 * LANES

cdef enum:
    NEURON_PAIRS = HIDDEN // (2 * LANES)
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
    int8_t vector[FEATURES][HIDDEN]

# The same as the search wants them: all that one feature adds to a sum in one cache line.
cdef struct Feature:
    Pairs vector[NEURON_PAIRS]
    int16_t value[PHASES]

cdef struct Layer:
    Pairs bias[2 * NEURON_PAIRS]             # where sums begin
    int16_t output[HIDDEN]

cdef Feature ROOM_FOR_FEATURES[FEATURES + 1]
cdef Feature *FEATURE = <Feature *>(
    (<size_t>ROOM_FOR_FEATURES + CACHE_LINE - 1) & ~<size_t>(CACHE_LINE - 1))
cdef Layer LAYER[PHASES]
WEIGHTS_SIZE = sizeof(Weights)

# What the hidden layer adds to the features' own values, whose sum is `value`.
cdef inline int hidden_layer(const int *at, int phase, int *value) noexcept nogil:
    cdef Pairs sums[2 * NEURON_PAIRS]        # the second half are those of the upper bytes
    cdef int16_t *neuron = <int16_t *>sums
    cdef const Feature *feature
    cdef int i, j, together = 0
    value[0] = 0
    memcpy(sums, LAYER[phase].bias, sizeof(sums))
    for i in range(ACTIVE):
        feature = &FEATURE[at[i]]
        value[0] += feature.value[phase]
        for j in range(NEURON_PAIRS):
            add_pairs(&sums[j], &sums[NEURON_PAIRS + j], &feature.vector[j])
    for j in range(NEURON_PAIRS):
        take_upper(&sums[j], &sums[NEURON_PAIRS + j])
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


# The first half of the neurons are the lower bytes of pairs.
cdef inline uint16_t pair_of(int lower, int upper) noexcept:
    return <uint16_t>(lower + (upper << 8))


cdef void arrange(const Weights *weights) noexcept:
    cdef int i, j, phase, upper
    cdef uint16_t *pair
    for i in range(FEATURES):
        pair = <uint16_t *>FEATURE[i].vector
        for j in range(HIDDEN // 2):
            pair[j] = pair_of(weights.vector[i][j] + NOUGHT,
                              weights.vector[i][HIDDEN // 2 + j] + NOUGHT)
        for phase in range(PHASES):
            FEATURE[i].value[phase] = weights.value[phase][i]
    for phase in range(PHASES):
        pair = <uint16_t *>LAYER[phase].bias
        for j in range(HIDDEN // 2):
            upper = weights.bias[phase][HIDDEN // 2 + j] - ACTIVE * NOUGHT
            pair[j] = pair_of(weights.bias[phase][j] - ACTIVE * NOUGHT, upper)
            pair[HIDDEN // 2 + j] = <uint16_t>upper
        memcpy(LAYER[phase].output, weights.output[phase], sizeof(weights.output[phase]))


def load_weights(bytes data):
    cdef const uint8_t *raw = data
    cdef Weights *weights
    cdef const int16_t *bias
    cdef int i
    cdef int numbers = (sizeof(Weights) - FEATURES * HIDDEN) // 2
    if len(data) != sizeof(Weights):
        raise ValueError(f"expected {sizeof(Weights)} bytes of weights, found {len(data)}")
    weights = <Weights *>malloc(sizeof(Weights))
    if weights == NULL:
        raise MemoryError("no memory for the weights")
    try:
        for i in range(numbers):
            (<int16_t *>weights)[i] = <int16_t>(raw[2 * i] | (raw[2 * i + 1] << 8))
        memcpy(weights.vector, raw + 2 * numbers, FEATURES * HIDDEN)
        bias = &weights.bias[0][0]
        for i in range(PHASES * HIDDEN):
            if abs(<int>bias[i]) > LARGEST_BIAS:
                raise ValueError(f"a bias of {bias[i]} may overflow")
        arrange(weights)
    finally:
        free(weights)
