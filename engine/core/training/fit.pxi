# Fitting the evaluation to samples: logistic regression by mini-batches, with Adam (Kingma and Ba,
# 2015) and decoupled weight decay (AdamW: Loshchilov and Hutter, 2019).
#
# Needs board.pxi, evaluation/features.pxi, training/samples.pxi.

# The parameters of a quarter of the phases. (Each phase has values of its own, each quarter of the
# phases has vectors of its own; see features.pxi.)
cdef struct Parameters:
    float vector[ROWS][HIDDEN]
    float value[PHASES_PER_QUARTER][ROWS]
    float bias[PHASES_PER_QUARTER][HIDDEN]
    float output[PHASES_PER_QUARTER][HIDDEN]

cdef enum:
    BATCH = 4096
    PER_LOGIT = 130          # hundredths of a man for a logit of 1: an expectation of 73 %

cdef enum:
    VECTORS = ROWS * HIDDEN  # count of the numbers of all vectors, the first part of Parameters
    # Offsets of the parts of the weights, counted in numbers.
    AT_BIAS = PHASES * ROWS
    AT_OUTPUT = AT_BIAS + PHASES * HIDDEN
    AT_VECTORS = AT_OUTPUT + PHASES * HIDDEN

# Adam's beta 1 and beta 2: decay of the means of gradients and of squared gradients.
cdef float MEANS_KEPT = 0.9, SQUARES_KEPT = 0.999


# The logistic function by basic arithmetic: unlike `exp`, it is the same on every machine.
cdef inline float logistic(float logit) noexcept nogil:
    cdef float size = -logit if logit < 0 else logit
    cdef float chance, exponent, power
    cdef int i
    if size > 20:
        size = 20
    # e ** size is the 64th power of e ** (size / 64), whose series converges fast.
    exponent = size / 64
    power = 1 + exponent * (
        1 + exponent * (0.5 + exponent * (1 / <float>6 + exponent / 24)))
    for i in range(6):
        power *= power
    chance = power / (1 + power)
    return chance if logit > 0 else 1 - chance


# The rules of a sample, as far as its features depend on them.
cdef inline RuleSet rules_of(const Sample *sample) noexcept nogil:
    cdef RuleSet rules
    memset(&rules, 0, sizeof(rules))
    rules.flying = sample.flying
    return rules


# The quarter of the phases to which a sample belongs.
cdef inline int quarter_of(const Sample *sample) noexcept nogil:
    cdef RuleSet rules = rules_of(sample)
    return phase_of(material_of(&rules, &sample.board)) // PHASES_PER_QUARTER


def split_samples(data):
    cdef _Span samples = span_of(data)
    cdef Py_ssize_t i, number = check_samples(samples)
    cdef Py_ssize_t kept[QUARTERS]
    cdef uint8_t *out[QUARTERS]
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
            read_sample(samples.start + SAMPLE_BYTES * i, &sample)
            quarter = quarter_of(&sample)
            write_sample(out[quarter] + SAMPLE_BYTES * kept[quarter], &sample)
            kept[quarter] += 1
    for quarter in range(QUARTERS):
        part = parts[quarter]
        del part[SAMPLE_BYTES * kept[quarter]:]
    return parts


# A number rounded to the nearest integer.
cdef inline int nearest(double number) noexcept nogil:
    return <int>(number + (0.5 if number > 0 else -0.5))


# Write one 16-bit number of the weights, clamped to an absolute value of at most `largest`.
cdef inline void write_number(uint8_t *weights, int at, double number,
                              int largest) noexcept nogil:
    cdef int value = max(-largest, min(largest, nearest(number)))
    write_bytes(weights + 2 * at, 2, value & 0xFFFF)


cdef class Fit:
    cdef Parameters *parameters  # start of a block of memory that also has the next three
    cdef Parameters *gradients   # sum over the batch
    cdef Parameters *means       # moving averages of the gradients
    cdef Parameters *squares     # moving averages of their squares
    cdef float means_left        # weight of the initial zeros in the averages
    cdef float squares_left
    cdef float share
    cdef int quarter

    def __cinit__(self, double share, int quarter, seed=1):
        cdef uint64_t state = seed
        cdef int i, j
        if not 0 <= share <= 1:
            raise ValueError(f"expected a share from 0 to 1, found {share}")
        if not 0 <= quarter < QUARTERS:
            raise ValueError(f"expected a quarter from 0 to {QUARTERS - 1}, found {quarter}")
        self.share = share
        self.quarter = quarter
        self.means_left = self.squares_left = 1
        self.parameters = <Parameters *>calloc(4, sizeof(Parameters))
        if not self.parameters:
            raise MemoryError
        self.gradients = self.parameters + 1
        self.means = self.parameters + 2
        self.squares = self.parameters + 3
        for i in range(ROWS):
            for j in range(HIDDEN):
                self.parameters.vector[i][j] = 1e-4 * (random_below(&state, 2001) - 1000.0)
        # Half of the neurons begin in favour of the side to move, half against it. All begin in the
        # middle of their range, so that each has a gradient.
        for i in range(PHASES_PER_QUARTER):
            for j in range(HIDDEN):
                self.parameters.bias[i][j] = 0.5
                self.parameters.output[i][j] = 0.5 if j % 2 else -0.5

    def __dealloc__(self):
        free(self.parameters)

    def epoch(self, data, double rate, double decay=0):
        cdef _Span samples = span_of(data)
        cdef Py_ssize_t i, number = check_samples(samples)
        cdef double total = 0
        cdef Sample sample
        if not 0 <= rate <= 1:
            raise ValueError(f"expected a rate from 0 to 1, found {rate}")
        if not 0 <= decay <= 1:
            raise ValueError(f"expected a decay from 0 to 1, found {decay}")
        for i in range(number):
            read_sample(samples.start + SAMPLE_BYTES * i, &sample)
            if quarter_of(&sample) != self.quarter:
                raise ValueError(f"sample {i} is of another quarter of the phases")
            if sample.result == NO_POINTS:
                raise ValueError(f"sample {i} has no result")
        with nogil:
            for i in range(number):
                read_sample(samples.start + SAMPLE_BYTES * i, &sample)
                total += self.learn(&sample, rate != 0)
                if rate != 0 and (i % BATCH == BATCH - 1 or i == number - 1):
                    self.descend(rate, rate * decay)
        return total / number if number else 0.0

    # The label of a sample: expected points, from 0 to 1.
    cdef inline float target(self, const Sample *sample) noexcept nogil:
        cdef float share = self.share if sample.score != NO_POINTS else 0
        return (share * sample.score + (1 - share) * sample.result) / WHOLE

    # Return a sample's squared error; `train`: also add its gradients to the batch's.
    cdef float learn(self, const Sample *sample, bint train) noexcept nogil:
        cdef Parameters *p = self.parameters
        cdef Parameters *s = self.gradients
        cdef RuleSet rules = rules_of(sample)
        cdef const Board *b = &sample.board
        cdef size_t row[ROWS_PER_POSITION]
        cdef float sums[HIDDEN]
        cdef float outputs[HIDDEN]
        cdef float gradient[HIDDEN]
        cdef float logit = 0, error
        cdef int material, phase, i, j
        material = material_of(&rules, b)
        phase = phase_of(material) % PHASES_PER_QUARTER
        find_rows(b, material, row)
        for j in range(HIDDEN):
            sums[j] = p.bias[phase][j]
        for i in range(ROWS_PER_POSITION):
            logit += p.value[phase][row[i]]
            for j in range(HIDDEN):
                sums[j] += p.vector[row[i]][j]
        for j in range(HIDDEN):
            sums[j] = 0 if sums[j] < 0 else 1 if sums[j] > 1 else sums[j]
            outputs[j] = sums[j] * sums[j]
            logit += p.output[phase][j] * outputs[j]
        error = logistic(logit) - self.target(sample)
        if not train:
            return error * error
        for j in range(HIDDEN):
            gradient[j] = error * p.output[phase][j] * 2 * sums[j] if sums[j] < 1 else 0
            s.output[phase][j] += error * outputs[j]
            s.bias[phase][j] += gradient[j]
        for i in range(ROWS_PER_POSITION):
            s.value[phase][row[i]] += error
            for j in range(HIDDEN):
                s.vector[row[i]][j] += gradient[j]
        return error * error

    # One step of Adam with weight decay, by the gradients of a batch.
    cdef void descend(self, float rate, float decay) noexcept nogil:
        cdef float *parameters = <float *>self.parameters
        cdef float *gradients = <float *>self.gradients
        cdef float *means = <float *>self.means
        cdef float *squares = <float *>self.squares
        cdef float limit = <float>LARGEST_IN_VECTOR / ONE
        cdef float kept = MEANS_KEPT, squares_kept = SQUARES_KEPT
        cdef float gradient, clamped, step, squares_scale
        cdef int i
        self.means_left *= kept
        self.squares_left *= squares_kept
        # Both averages begin at 0: correct them by the weight of the gradients so far.
        step = rate / (1 - self.means_left)
        squares_scale = 1 / (1 - self.squares_left)
        for i in range(<int>(sizeof(Parameters) // sizeof(float))):
            # The last batch may have fewer samples, and then counts less.
            gradient = gradients[i] / BATCH
            means[i] = kept * means[i] + (1 - kept) * gradient
            squares[i] = squares_kept * squares[i] + (1 - squares_kept) * (gradient * gradient)
            parameters[i] -= step * means[i] / (
                sqrtf(squares[i] * squares_scale) + <float>1e-8) + decay * parameters[i]
        for i in range(VECTORS):
            clamped = parameters[i] if parameters[i] < limit else limit
            parameters[i] = clamped if clamped > -limit else -limit
        memset(gradients, 0, sizeof(Parameters))

    def write(self, weights):
        cdef _Span span = span_of(weights, width=1, writable=True)
        cdef Parameters *p = self.parameters
        cdef uint8_t *out = span.start
        cdef int phase, at, i
        if span.size != WEIGHTS_SIZE:
            raise ValueError(f"expected {WEIGHTS_SIZE} bytes of weights, found {span.size}")
        for phase in range(PHASES_PER_QUARTER):
            at = self.quarter * PHASES_PER_QUARTER + phase
            for i in range(ROWS):
                # Values are stored in quarters of a hundredth of a man.
                write_number(out, at * ROWS + i, p.value[phase][i] * 4 * PER_LOGIT,
                             LARGEST_VALUE if i < FEATURES else LARGEST_PART)
            for i in range(HIDDEN):
                write_number(out, AT_BIAS + at * HIDDEN + i, p.bias[phase][i] * ONE,
                             LARGEST_PART)
                write_number(
                    out, AT_OUTPUT + at * HIDDEN + i,
                    p.output[phase][i] * (PER_LOGIT << OUTPUT_SHIFT) / (ONE * ONE), LARGEST_OUTPUT)
        out += 2 * AT_VECTORS + self.quarter * VECTORS
        for i in range(VECTORS):
            # A number that never had a gradient is only its random initial value, decayed: write 0.
            out[i] = nearest((<float *>p)[i] * ONE if (<float *>self.squares)[i] else 0) & 255
