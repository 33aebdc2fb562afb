# Fitting the evaluation: logistic regression of results on positions, one sample at a time, with
# the step sizes of Adagrad (Duchi, Hazan and Singer, 2011).
#
# Needs board.pxi, evaluate.pxi.

cdef packed struct Sample:   # described in merels.engine.training.samples
    uint32_t own
    uint32_t opponent
    uint8_t own_hand
    uint8_t opponent_hand
    uint8_t flying
    uint8_t unused
    float score
    float result

SAMPLE_FORMAT = "=IIBBBxff"  # the same as a format of Python's struct

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


# The number of samples in some bytes.
cdef Py_ssize_t count_samples(const uint8_t[::1] data) except -1:
    if len(data) == 0 or len(data) % sizeof(Sample):
        raise ValueError(f"expected samples of {sizeof(Sample)} bytes each, found {len(data)}")
    return len(data) // sizeof(Sample)


def shuffle(uint8_t[::1] data, seed):
    cdef Py_ssize_t i, j, number = count_samples(data)
    cdef Sample *samples = <Sample *>&data[0]
    cdef uint64_t state = seed
    for i in range(number - 1, 0, -1):
        j = random_below(&state, i + 1)
        samples[i], samples[j] = samples[j], samples[i]


cdef inline Board board_of(const Sample *sample) noexcept nogil:
    cdef Board b
    b.own = sample.own
    b.opponent = sample.opponent
    b.own_hand = sample.own_hand
    b.opponent_hand = sample.opponent_hand
    b.plies = 0
    return b


cdef class Fit:
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
        cdef Py_ssize_t i, number = count_samples(data)
        cdef const Sample *samples = <const Sample *>&data[0]
        cdef double total = 0
        cdef Board b
        for i in range(number):
            b = board_of(&samples[i])
            if not is_sound(&b):
                raise ValueError(f"sample {i} has an impossible board")
        with nogil:
            for i in range(number):
                total += self.learn(&samples[i], rate)
        return total / number

    # Step towards one sample, unless the rate is 0; the squared error before.
    cdef float learn(self, const Sample *sample, float rate) noexcept nogil:
        cdef Parameters *p = self.now
        cdef Parameters *s = self.squares
        cdef RuleSet rules
        cdef Board b = board_of(sample)
        cdef int at[ACTIVE]
        cdef float sums[HIDDEN]
        cdef float slope[HIDDEN]
        cdef float logit = 0, error, cut
        cdef int phase, i, j
        memset(&rules, 0, sizeof(rules))
        rules.flying = sample.flying
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
