# The static evaluation, learned from games and the tablebase.
#
# Each feature, a pattern or the material, has a value in each phase and a vector in each quarter of
# the phases. The evaluation is the sum of the values and the output of a hidden layer. The sum of
# the vectors is the input of the layer's neurons, which clip and square it; the output is their
# weighted sum. weights.bin has all weights by rows; merels.engine.training makes it.
#
# The numbers of a pattern's vectors are clamped to LARGEST_IN_VECTOR, so that three features are
# added as bytes before the sums need 16 bits. This changes one number in 560 of weights.bin.
#
# Needs board.pxi, evaluation/features.pxi.

cdef extern from *:
    """
    /* Eight pairs of bytes. Each byte is at most 85, so that three of them add up without a carry.
     * `sum` adds the 16-bit lanes, `upper` only their upper bytes. At the end, `sum` less
     * 256 * `upper` is the sum of the lower bytes, so no byte needs to be widened. */
    #if defined(__GNUC__) || defined(__clang__)
      typedef uint16_t MerelsPairs __attribute__((vector_size(16)));
      static __inline void MERELS_ADD_PAIRS(MerelsPairs *sum, MerelsPairs *upper,
                                            const MerelsPairs *first, const MerelsPairs *second,
                                            const MerelsPairs *third) {
          MerelsPairs all = *first + *second + *third;
          *sum += all;
          *upper += all >> 8;
      }
      #define MERELS_TAKE_UPPER(sum, upper) (*(sum) -= *(upper) << 8)
    #else
      typedef struct { uint16_t lane[8]; } MerelsPairs;
      static __inline void MERELS_ADD_PAIRS(MerelsPairs *sum, MerelsPairs *upper,
                                            const MerelsPairs *first, const MerelsPairs *second,
                                            const MerelsPairs *third) {
          int i;
          for (i = 0; i < 8; i++) {
              uint16_t all = first->lane[i] + second->lane[i] + third->lane[i];
              sum->lane[i] += all;
              upper->lane[i] += all >> 8;
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
    void add_pairs "MERELS_ADD_PAIRS"(Pairs *sum, Pairs *upper, const Pairs *first,
                                      const Pairs *second, const Pairs *third) noexcept nogil
    void take_upper "MERELS_TAKE_UPPER"(Pairs *sum, const Pairs *upper) noexcept nogil

cdef enum:
    NEURON_PAIRS = HIDDEN // (2 * LANES)
    CACHE_LINE = 64          # bytes
    BYTE_BIAS = LARGEST_IN_VECTOR + 1        # the byte of a pair that represents 0

# The weights in the layout of the search: one cache line for a pattern feature in a quarter of the
# phases, and a structure for each material.
cdef struct Feature:
    Pairs vector[NEURON_PAIRS]
    Lanes values                             # one for each phase of the quarter; four are unused

cdef struct Material:
    Pairs start[2 * NEURON_PAIRS]            # initial `sum` and `upper` for each 16 neurons
    const Feature *features                  # of the quarter of its phase
    const int16_t *output                    # output weights of its phase
    int value
    uint32_t lane                            # index of its phase in Feature.values

cdef Feature FEATURE_MEMORY[QUARTERS * FEATURES + 1]
cdef Feature *FEATURE = <Feature *>(
    (<size_t>FEATURE_MEMORY + CACHE_LINE - 1) & ~<size_t>(CACHE_LINE - 1))
cdef Material MATERIAL[MATERIALS]
cdef Pairs ZERO_PAIRS                        # completes the last group of three pairs
cdef int16_t VALUE[PHASES][ROWS]
cdef int16_t OUTPUT[PHASES][HIDDEN]

# Return the weighted sum of the neurons; set `value` to the sum of the values.
cdef inline int hidden_layer(const size_t *indices, const Material *material,
                             int *value) noexcept nogil:
    cdef const Feature *features = material.features
    cdef const Feature *feature[ACTIVE]
    cdef const int16_t *output = material.output
    cdef Pairs sums[2 * NEURON_PAIRS]
    cdef Pairs sum, upper
    cdef Lanes values = features[indices[0]].values
    cdef int16_t *neuron = <int16_t *>sums
    cdef int i, j, weighted_sum = 0
    for i in range(ACTIVE):
        feature[i] = &features[indices[i]]
    for i in range(1, ACTIVE):
        add_lanes(&values, &feature[i].values)
    value[0] = material.value + (<int16_t *>&values)[material.lane]
    # Sixteen neurons at a time, so that their sums stay in registers.
    for j in range(NEURON_PAIRS):
        sum = material.start[2 * j]
        upper = material.start[2 * j + 1]
        for i in range(0, ACTIVE - 2, 3):
            add_pairs(&sum, &upper, &feature[i].vector[j], &feature[i + 1].vector[j],
                      &feature[i + 2].vector[j])
        add_pairs(&sum, &upper, &feature[ACTIVE - 2].vector[j], &feature[ACTIVE - 1].vector[j],
                  &ZERO_PAIRS)
        take_upper(&sum, &upper)
        sums[2 * j] = sum
        sums[2 * j + 1] = upper
    for j in range(HIDDEN):
        neuron[j] = 0 if neuron[j] < 0 else ONE if neuron[j] > ONE else neuron[j]
        neuron[j] *= neuron[j]
    for j in range(HIDDEN):
        weighted_sum += <int>neuron[j] * <int>output[j]
    return weighted_sum


# The static evaluation.
cdef inline int evaluate_board(const RuleSet *rules, const Board *b) noexcept nogil:
    cdef const Material *material = &MATERIAL[material_of(rules, b)]
    cdef size_t indices[ACTIVE]
    cdef int value, weighted_sum
    find_features(b, indices)
    weighted_sum = hidden_layer(indices, material, &value)
    return (value >> 2) + (weighted_sum >> OUTPUT_SHIFT)


def evaluate(tuple rules not None, tuple fields not None):
    cdef RuleSet rule_set = load_rules(rules)
    cdef Board b = load_board(fields)
    return evaluate_board(&rule_set, &b)


def terms(tuple rules not None, tuple fields not None):
    cdef RuleSet rule_set = load_rules(rules)
    cdef Board b = load_board(fields)
    cdef size_t row[ROWS_PER_POSITION]
    cdef int material = material_of(&rule_set, &b), i, value
    find_rows(&b, material, row)
    return [*[VALUE[phase_of(material)][row[i]] / 4.0 for i in range(ROWS_PER_POSITION)],
            hidden_layer(row, &MATERIAL[material], &value) / <double>(1 << OUTPUT_SHIFT)]


# Pack the numbers of sixteen neurons into pairs: the first eight numbers are the lower bytes.
cdef inline void pair_up(uint16_t *pair, const int *numbers) noexcept:
    cdef int i
    for i in range(LANES):
        pair[i] = <uint16_t>(numbers[i] + 256 * numbers[LANES + i])


# A number clamped to the range from -`largest` to `largest`.
cdef inline int clamped(int number, int largest) noexcept:
    return max(-largest, min(largest, number))


# Arrange the values and the vector of a pattern in a quarter of the phases for the search.
cdef void arrange_feature(const Weights *weights, int quarter, int place) noexcept:
    cdef Feature *feature = &FEATURE[quarter * FEATURES + place]
    cdef int16_t *value = <int16_t *>&feature.values
    cdef int numbers[HIDDEN]
    cdef int phase, j
    cdef int first = quarter * PHASES_PER_QUARTER
    for phase in range(PHASES_PER_QUARTER):
        value[phase] = <int16_t>clamped(weights.value[first + phase][place], LARGEST_VALUE)
    for j in range(HIDDEN):
        numbers[j] = BYTE_BIAS + clamped(weights.vector[quarter][place][j], LARGEST_IN_VECTOR)
    for j in range(NEURON_PAIRS):
        pair_up(<uint16_t *>&feature.vector[j], &numbers[2 * LANES * j])


# Arrange the weights of a material, which are sums of two rows, and add the biases.
cdef void arrange_material(const Weights *weights, int place) noexcept:
    cdef Material *material = &MATERIAL[place]
    cdef int phase = phase_of(place), men = AT_MEN + place % 100, kind = AT_KINDS + place // 100
    cdef int numbers[HIDDEN]
    cdef uint16_t *upper
    cdef int i, j
    material.value = weights.value[phase][men] + weights.value[phase][kind]
    for j in range(HIDDEN):
        numbers[j] = (weights.bias[phase][j] + weights.vector[phase // PHASES_PER_QUARTER][men][j]
                      + weights.vector[phase // PHASES_PER_QUARTER][kind][j] - ACTIVE * BYTE_BIAS)
    for j in range(NEURON_PAIRS):
        pair_up(<uint16_t *>&material.start[2 * j], &numbers[2 * LANES * j])
        upper = <uint16_t *>&material.start[2 * j + 1]
        for i in range(LANES):
            upper[i] = <uint16_t>numbers[2 * LANES * j + LANES + i]


# Set the pointers of each material. Until weights are loaded, every evaluation is 0.
cdef void load_materials() noexcept:
    cdef int place, phase
    for place in range(MATERIALS):
        phase = phase_of(place)
        MATERIAL[place].features = &FEATURE[phase // PHASES_PER_QUARTER * FEATURES]
        MATERIAL[place].output = OUTPUT[phase]
        MATERIAL[place].lane = phase % PHASES_PER_QUARTER


def load_weights(bytes data):
    cdef const uint8_t *raw = data
    cdef Weights *weights
    cdef int i, quarter, largest
    cdef int numbers = (sizeof(Weights) - QUARTERS * ROWS * HIDDEN) // 2
    if len(data) != sizeof(Weights):
        raise ValueError(f"expected {sizeof(Weights)} bytes of weights, found {len(data)}")
    weights = <Weights *>malloc(sizeof(Weights))
    if weights == NULL:
        raise MemoryError("no memory for the weights")
    try:
        for i in range(numbers):
            (<int16_t *>weights)[i] = <int16_t>(raw[2 * i] | (raw[2 * i + 1] << 8))
        memcpy(weights.vector, raw + 2 * numbers, QUARTERS * ROWS * HIDDEN)
        for i in range(numbers):
            largest = LARGEST_PART if i < PHASES * (ROWS + HIDDEN) else LARGEST_OUTPUT
            if abs(<int>(<int16_t *>weights)[i]) > largest:
                raise ValueError(f"a weight of {(<int16_t *>weights)[i]} may overflow")
        for quarter in range(QUARTERS):
            for i in range(FEATURES):
                arrange_feature(weights, quarter, i)
        for i in range(MATERIALS):
            arrange_material(weights, i)
        memcpy(VALUE, weights.value, sizeof(VALUE))
        memcpy(OUTPUT, weights.output, sizeof(OUTPUT))
    finally:
        free(weights)
