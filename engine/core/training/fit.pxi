# Fitting the evaluation: logistic regression of results on positions, one sample at a time.

cdef packed struct Sample:
    uint32_t own
    uint32_t opponent
    uint8_t own_hand
    uint8_t opponent_hand
    uint8_t flying           # as in RuleSet
    uint8_t unused
    float score              # expected score of the side to move by its search, 0 to 1
    float result             # its score in the end

cdef struct Parameters:
    float value[PHASES][FEATURES]
    float bias[PHASES][HIDDEN]
    float output[PHASES][HIDDEN]
    float vector[FEATURES][HIDDEN]

cdef enum:
    PER_LOGIT = 130          # hundredths of a man: 73 % of the points are worth so much


# One step down a gradient, scaled by the steps so far (Adagrad).
cdef inline void descend(float *weight, float *squares, float gradient, float rate) noexcept nogil:
    squares[0] += gradient * gradient
    weight[0] -= rate * gradient / (sqrtf(squares[0]) + 1e-3)


# A random number below a limit, the same on every machine.
cdef inline uint64_t random_below(uint64_t *state, uint64_t limit) noexcept nogil:
    state[0] += 0x9E3779B97F4A7C15ull
    return below(mix(state[0]), limit)


def shuffle(uint8_t[::1] data, seed):
    """Put samples in random order, in place."""
    cdef Sample *samples = <Sample *>&data[0]
    cdef Sample one
    cdef uint64_t state = seed, number = len(data) // sizeof(Sample), i, j
    for i in range(number - 1, 0, -1):
        j = random_below(&state, i + 1)
        one = samples[i]
        samples[i] = samples[j]
        samples[j] = one


def label(uint8_t[::1] data, TableSet tables, int flying):
    """Put the proven value for the result of each sample that tables know, in place.

    ``flying`` is the tables' way of flying; samples of another keep their result. Returns how many
    samples were labelled.
    """
    cdef Sample *samples = <Sample *>&data[0]
    cdef Py_ssize_t i, labelled = 0, number = len(data) // sizeof(Sample)
    cdef Board b
    cdef int value, depth
    b.plies = 0
    with nogil:
        for i in range(number):
            if samples[i].flying != flying:
                continue
            b.own = samples[i].own
            b.opponent = samples[i].opponent
            b.own_hand = samples[i].own_hand
            b.opponent_hand = samples[i].opponent_hand
            value = table_probe(&tables.tables, &b, &depth)
            if value != UNKNOWN:
                samples[i].result = 1 if value == WON else 0 if value == LOST else 0.5
                if samples[i].score < 0:
                    samples[i].score = samples[i].result
                labelled += 1
    return labelled


def random_samples(int number, seed, int flying):
    """Samples of the moving phase with men anywhere and no label, which is a score of -1."""
    cdef uint64_t state = seed
    cdef int i, own, men
    cdef uint32_t bit
    data = bytearray(number * sizeof(Sample))
    cdef uint8_t[::1] view = data
    cdef Sample *sample = <Sample *>&view[0]
    for i in range(number):
        own = 3 + random_below(&state, 7)
        men = own + 3 + random_below(&state, 7)
        sample.flying = flying
        sample.score = sample.result = -1
        while men:
            bit = 1u << random_below(&state, POINT_COUNT)
            if (sample.own | sample.opponent) & bit:
                continue
            if own:
                sample.own |= bit
                own -= 1
            else:
                sample.opponent |= bit
            men -= 1
        sample += 1
    return data


cdef class Fit:
    """An evaluation in the making: weights as logits.

    ``share`` is the searched score's part in a sample's target, the game's result has the rest.
    """

    cdef Parameters *now
    cdef Parameters *squares
    cdef float share

    def __cinit__(self, double share, seed=1):
        cdef uint64_t state = seed
        cdef int i, j
        self.share = share
        self.now = <Parameters *>calloc(1, sizeof(Parameters))
        self.squares = <Parameters *>calloc(1, sizeof(Parameters))
        if not self.now or not self.squares:
            raise MemoryError
        for i in range(FEATURES):
            for j in range(HIDDEN):
                self.now.vector[i][j] = 5e-5 * (random_below(&state, 1001) - 500.0)
        for i in range(PHASES):
            for j in range(HIDDEN):
                self.now.bias[i][j] = 0.5
                self.now.output[i][j] = 1 if j % 2 else -1
                self.squares.output[i][j] = 1

    def __dealloc__(self):
        free(self.now)
        free(self.squares)

    def epoch(self, const uint8_t[::1] data, double rate):
        """One pass over samples; the mean squared error, of each before its step.

        With ``rate`` 0 nothing is learnt.
        """
        cdef const Sample *samples = <const Sample *>&data[0]
        cdef Py_ssize_t i, number = len(data) // sizeof(Sample)
        cdef double total = 0
        with nogil:
            for i in range(number):
                total += self.learn(&samples[i], rate)
        return total / max(1, number)

    cdef float learn(self, const Sample *sample, float rate) noexcept nogil:
        """Step towards one sample; the squared error before."""
        cdef Parameters *p = self.now
        cdef Parameters *s = self.squares
        cdef RuleSet rules
        cdef Board b
        cdef int at[ACTIVE]
        cdef float sums[HIDDEN]
        cdef float slope[HIDDEN]
        cdef float logit = 0, error, cut
        cdef int phase, i, j
        memset(&rules, 0, sizeof(rules))
        rules.flying = sample.flying
        b.own = sample.own
        b.opponent = sample.opponent
        b.own_hand = sample.own_hand
        b.opponent_hand = sample.opponent_hand
        b.plies = 0
        phase = phase_of(&rules, &b)
        find_features(&rules, &b, at)
        for j in range(HIDDEN):
            sums[j] = p.bias[phase][j]
        for i in range(ACTIVE):
            logit += p.value[phase][at[i]]
            for j in range(HIDDEN):
                sums[j] += p.vector[at[i]][j]
        for j in range(HIDDEN):
            cut = 0 if sums[j] < 0 else 1 if sums[j] > 1 else sums[j]
            logit += p.output[phase][j] * cut
        error = 1 / (1 + exp(-logit)) - (
            self.share * sample.score + (1 - self.share) * sample.result)
        if rate == 0:
            return error * error
        for j in range(HIDDEN):
            cut = 0 if sums[j] < 0 else 1 if sums[j] > 1 else sums[j]
            slope[j] = error * p.output[phase][j] if 0 < sums[j] < 1 else 0
            descend(&p.output[phase][j], &s.output[phase][j], error * cut, 0.3 * rate)
            descend(&p.bias[phase][j], &s.bias[phase][j], slope[j], 0.1 * rate)
        for i in range(ACTIVE):
            descend(&p.value[phase][at[i]], &s.value[phase][at[i]],
                    error + 1e-5 * p.value[phase][at[i]], rate)
            for j in range(HIDDEN):
                descend(&p.vector[at[i]][j], &s.vector[at[i]][j],
                        slope[j] + 1e-6 * p.vector[at[i]][j], 0.3 * rate)
        return error * error

    def weights(self):
        """The weights in the form and scale that `load_weights` takes."""
        cdef float *source = <float *>self.now
        cdef float *squares = <float *>self.squares
        cdef size_t i, number = sizeof(Parameters) // sizeof(float)
        cdef size_t bias = PHASES * FEATURES, output = bias + PHASES * HIDDEN
        cdef size_t vectors = output + PHASES * HIDDEN
        cdef double scale
        cdef int value
        data = bytearray(2 * number)
        for i in range(number):
            scale = (4 * PER_LOGIT if i < bias else ONE if i < output or i >= vectors
                     else (PER_LOGIT << OUTPUT_SHIFT) / <double>ONE)
            # An entry that never occurred keeps its random start, which means nothing.
            value = 0 if i >= vectors and squares[i] == 0 else <int>(
                source[i] * scale + (0.5 if source[i] > 0 else -0.5))
            value = -32000 if value < -32000 else 32000 if value > 32000 else value
            data[2 * i] = value & 255
            data[2 * i + 1] = (value >> 8) & 255
        return bytes(data)
