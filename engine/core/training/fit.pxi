# Fitting the evaluation: logistic regression of results on positions, one sample at a time, with
# the step sizes of Adagrad (Duchi, Hazan and Singer, 2011).
#
# Needs board.pxi, evaluation/evaluate.pxi.

cdef struct Parameters:
    float value[PHASES][ROWS]
    float bias[PHASES][HIDDEN]
    float output[PHASES][HIDDEN]
    float vector[QUARTERS][ROWS][HIDDEN]

cdef enum:
    # The squares of a vector's steps begin at this. From nothing its first steps would be its
    # longest, and push neurons to where no sample moves them again.
    FIRST_SQUARES = 1
    # All squares begin at this where fitting goes on from weights, so that steps are short.
    LATER_SQUARES = 30
    PER_LOGIT = 130          # hundredths of a man: 73 % of the points are worth so much


cdef enum:
    # Where each part of the weights begins, in numbers.
    AT_BIAS = PHASES * ROWS
    AT_OUTPUT = AT_BIAS + PHASES * HIDDEN
    AT_VECTORS = AT_OUTPUT + PHASES * HIDDEN


# What a parameter is multiplied by to be a number of the weights.
cdef inline double scale_of(size_t i) noexcept nogil:
    if i < AT_BIAS:
        return 4 * PER_LOGIT
    if AT_OUTPUT <= i < AT_VECTORS:
        return (PER_LOGIT << OUTPUT_SHIFT) / <double>ONE
    return 2 * ONE


# One step down a gradient, scaled by the steps so far (Adagrad).
cdef inline void descend(float *weight, float *squares, float gradient, float rate) noexcept nogil:
    squares[0] += gradient * gradient
    weight[0] -= rate * gradient / (sqrtf(squares[0]) + 1e-3)


# The logistic function, by sums and products alone: the same on every machine, unlike `exp`.
cdef inline float logistic(float logit) noexcept nogil:
    cdef float size = -logit if logit < 0 else logit
    cdef float whole, part, power
    cdef int i
    if size > 20:
        size = 20
    # e ** size is the 64th power of e ** (size / 64), whose series may end early.
    part = size / 64
    power = 1 + part * (1 + part * (0.5 + part * (1 / <float>6 + part / 24)))
    for i in range(6):
        power *= power
    whole = power / (1 + power)
    return whole if logit > 0 else 1 - whole


# All of a sample's rules that its features depend on.
cdef inline RuleSet rules_of(const Sample *sample) noexcept nogil:
    cdef RuleSet rules
    memset(&rules, 0, sizeof(rules))
    rules.flying = sample.flying
    return rules


# The quarter of the phases whose vectors learn from a sample.
cdef inline int quarter_of(const Sample *sample) noexcept nogil:
    cdef RuleSet rules = rules_of(sample)
    return phase_of(material_of(&rules, &sample.board)) // QUARTER


# The samples that each quarter of the phases learns from, in their order.
def split_samples(data):
    cdef _Span samples = span_of(data)
    cdef Py_ssize_t i, number = check_samples(samples)
    cdef Py_ssize_t kept[QUARTERS]
    cdef uint8_t *out[QUARTERS]
    cdef const uint8_t *found
    cdef Sample sample
    cdef int quarter
    cdef bytearray part
    parts = []
    for quarter in range(QUARTERS):
        part = bytearray(samples.size)
        out[quarter] = part
        kept[quarter] = 0
        parts.append(part)
    with nogil:
        for i in range(number):
            found = samples.start + SAMPLE_BYTES * i
            read_sample(found, &sample)
            quarter = quarter_of(&sample)
            memcpy(out[quarter] + SAMPLE_BYTES * kept[quarter], found, SAMPLE_BYTES)
            kept[quarter] += 1
    for quarter in range(QUARTERS):
        part = parts[quarter]
        del part[SAMPLE_BYTES * kept[quarter]:]
    return parts


cdef class Fit:
    cdef Parameters *now
    cdef Parameters *squares
    cdef float share

    def __cinit__(self, double share, seed=1, bytes start=None):
        cdef uint64_t state = seed
        cdef int i, j, quarter
        self.share = share
        self.now = <Parameters *>calloc(1, sizeof(Parameters))
        self.squares = <Parameters *>calloc(1, sizeof(Parameters))
        if not self.now or not self.squares:
            raise MemoryError
        if start is not None:
            self.go_on(start)
            return
        for quarter in range(QUARTERS):
            for i in range(ROWS):
                for j in range(HIDDEN):
                    self.now.vector[quarter][i][j] = 5e-5 * (random_below(&state, 1001) - 500.0)
                    self.squares.vector[quarter][i][j] = FIRST_SQUARES
        for i in range(PHASES):
            for j in range(HIDDEN):
                self.now.bias[i][j] = 0.5
                self.now.output[i][j] = 0.5 if j % 2 else -0.5
                self.squares.output[i][j] = 1

    def __dealloc__(self):
        free(self.now)
        free(self.squares)

    # Begin with weights instead of small random numbers.
    cdef int go_on(self, bytes start) except -1:
        cdef const uint8_t *data = start
        cdef float *now = <float *>self.now
        cdef float *squares = <float *>self.squares
        cdef size_t i
        if len(start) != WEIGHTS_SIZE:
            raise ValueError(f"expected {WEIGHTS_SIZE} bytes of weights, found {len(start)}")
        for i in range(sizeof(Parameters) // sizeof(float)):
            now[i] = <int8_t>data[AT_VECTORS + i] if i >= AT_VECTORS else (
                <int16_t>read_bytes(data + 2 * i, 2))
            now[i] /= scale_of(i)
            squares[i] = LATER_SQUARES
        return 0

    def epoch(self, data, double rate):
        cdef _Span samples = span_of(data)
        cdef Py_ssize_t i, number = check_samples(samples)
        cdef double total = 0
        cdef Sample sample
        with nogil:
            for i in range(number):
                read_sample(samples.start + SAMPLE_BYTES * i, &sample)
                total += self.learn(&sample, rate)
        return total / number if number else 0.0

    # The points that a sample teaches.
    cdef inline float target(self, const Sample *sample) noexcept nogil:
        cdef float share = self.share if sample.score != NO_POINTS else 0
        return (share * sample.score + (1 - share) * sample.result) / WHOLE

    # Step towards one sample, unless the rate is 0; the squared error before.
    cdef float learn(self, const Sample *sample, float rate) noexcept nogil:
        cdef Parameters *p = self.now
        cdef Parameters *s = self.squares
        cdef RuleSet rules = rules_of(sample)
        cdef const Board *b = &sample.board
        cdef int at[ACTIVE]
        cdef int row[MET]
        cdef float sums[HIDDEN]
        cdef float slope[HIDDEN]
        cdef float logit = 0, error, cut
        cdef float limit = <float>INT8_MAX / (2 * ONE)  # what a vector's bytes hold
        cdef float (*vector)[HIDDEN]
        cdef float (*squares)[HIDDEN]
        cdef int material, phase, i, j, k
        material = material_of(&rules, b)
        phase = phase_of(material)
        find_features(&rules, b, at)
        find_rows(at, material, row)
        vector = p.vector[phase // QUARTER]
        squares = s.vector[phase // QUARTER]
        for j in range(HIDDEN):
            sums[j] = p.bias[phase][j]
        for i in range(MET):
            logit += p.value[phase][row[i]]
            for j in range(HIDDEN):
                sums[j] += vector[row[i]][j]
        for j in range(HIDDEN):
            cut = 0 if sums[j] < 0 else 1 if sums[j] > 1 else sums[j]
            logit += p.output[phase][j] * cut
        error = logistic(logit) - self.target(sample)
        if rate == 0:
            return error * error
        for j in range(HIDDEN):
            cut = 0 if sums[j] < 0 else 1 if sums[j] > 1 else sums[j]
            slope[j] = error * p.output[phase][j] if 0 < sums[j] < 1 else 0
            descend(&p.output[phase][j], &s.output[phase][j], error * cut, 0.3 * rate)
            descend(&p.bias[phase][j], &s.bias[phase][j], slope[j], 0.1 * rate)
        for i in range(MET):
            k = row[i]
            descend(&p.value[phase][k], &s.value[phase][k],
                    error + 1e-5 * p.value[phase][k], rate)
            for j in range(HIDDEN):
                descend(&vector[k][j], &squares[k][j], slope[j] + 1e-6 * vector[k][j], rate)
                cut = vector[k][j]
                vector[k][j] = limit if cut > limit else -limit if cut < -limit else cut
        return error * error

    def weights(self):
        cdef float *source = <float *>self.now
        cdef float *squares = <float *>self.squares
        cdef size_t i
        cdef int value, largest
        data = bytearray(WEIGHTS_SIZE)
        for i in range(sizeof(Parameters) // sizeof(float)):
            # An entry that never occurred keeps its random start, which means nothing.
            value = 0 if i >= AT_VECTORS and squares[i] == FIRST_SQUARES else <int>(
                source[i] * scale_of(i) + (0.5 if source[i] > 0 else -0.5))
            if i >= AT_VECTORS:
                data[AT_VECTORS + i] = value & 255
            else:
                largest = INT16_MAX if i >= AT_OUTPUT else LARGEST_PART
                value = max(-largest, min(largest, value))
                data[2 * i] = value & 255
                data[2 * i + 1] = (value >> 8) & 255
        return bytes(data)
