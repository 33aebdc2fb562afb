# Training samples: their format, selection and shuffling.
#
# A sample has twelve bytes, little-endian on every machine. The first 32-bit number has the men of
# the side to move and, from bit 24 on, its men in hand. The second 32-bit number has the men of the
# opponent, its men in hand and, from bit 28 on, the rule field Flying. Two 16-bit numbers follow:
# the points that a search expects for the side to move, and its points in the game or by the
# tables. Their unit is 1 / WHOLE of a point; NO_POINTS represents unknown points.
#
# Needs platform.pxi, bitboard.pxi, board.pxi, tablebase/index.pxi.

cpdef enum:
    SAMPLE_BYTES = 12

cdef enum:
    WHOLE = 1 << 15          # one point, in a sample's numbers
    NO_POINTS = 0xFFFF
    HELD_OUT = 64            # one position in HELD_OUT is held out

cdef struct Sample:
    Board board
    int flying
    int score
    int result


cdef inline void read_sample(const uint8_t *bytes, Sample *sample) noexcept nogil:
    cdef uint32_t own = read_bytes(bytes, 4), opponent = read_bytes(bytes + 4, 4)
    sample.board.own = own & ALL
    sample.board.opponent = opponent & ALL
    sample.board.own_hand = own >> 24
    sample.board.opponent_hand = (opponent >> 24) & 15
    sample.board.plies = 0
    count_men(&sample.board)
    sample.flying = opponent >> 28
    sample.score = read_bytes(bytes + 8, 2)
    sample.result = read_bytes(bytes + 10, 2)


cdef inline void write_sample(uint8_t *bytes, const Sample *sample) noexcept nogil:
    write_bytes(bytes, 4, sample.board.own | <uint32_t>sample.board.own_hand << 24)
    write_bytes(bytes + 4, 4, sample.board.opponent
                | <uint32_t>sample.board.opponent_hand << 24 | <uint32_t>sample.flying << 28)
    write_bytes(bytes + 8, 2, sample.score)
    write_bytes(bytes + 10, 2, sample.result)


cdef inline bint are_points(int points) noexcept nogil:
    return points <= WHOLE or points == NO_POINTS


# The number of samples in some bytes; ValueError if a sample is invalid.
cdef Py_ssize_t check_samples(_Span data) except -1:
    cdef Py_ssize_t i, number = data.size // SAMPLE_BYTES
    cdef Sample sample
    if data.size % SAMPLE_BYTES:
        raise ValueError(
            f"expected samples of {SAMPLE_BYTES} bytes each, found {data.size} bytes in all")
    for i in range(number):
        read_sample(data.start + SAMPLE_BYTES * i, &sample)
        if not is_sound(&sample.board):
            raise ValueError(f"sample {i} has an impossible board")
        if sample.flying > FLYING_BOTH:
            raise ValueError(f"sample {i} has an unknown value of Flying: {sample.flying}")
        if not are_points(sample.score) or not are_points(sample.result):
            raise ValueError(f"sample {i} has a score or a result above one point")
    return number


# A number of points in the unit of samples; None: unknown.
cdef int packed_points(points) except -1:
    if points is None:
        return NO_POINTS
    if not 0 <= points <= 1:
        raise ValueError(f"expected points from 0 to 1, found {points}")
    return round(points * WHOLE)


def pack_sample(tuple fields not None, int flying, score, result):
    cdef uint8_t data[SAMPLE_BYTES]
    cdef Sample sample
    sample.board = load_board(fields)
    if not 0 <= flying <= FLYING_BOTH:
        raise ValueError(f"unknown value of Flying: {flying}")
    sample.flying = flying
    sample.score = packed_points(score)
    sample.result = packed_points(result)
    write_sample(data, &sample)
    return data[:SAMPLE_BYTES]


# A random number below a limit, the same on every machine.
cdef inline uint64_t random_below(uint64_t *state, uint64_t limit) noexcept nogil:
    state[0] += GOLDEN
    return below(mix(state[0]), limit)


def shuffle(data, seed):
    cdef _Span span = span_of(data, width=1, writable=True)
    cdef Py_ssize_t i, j, number = check_samples(span)
    cdef uint8_t *samples = span.start
    cdef uint8_t swapped[SAMPLE_BYTES]
    cdef uint64_t state = seed
    with nogil:
        for i in range(number - 1, 0, -1):
            j = random_below(&state, i + 1)
            memcpy(swapped, samples + SAMPLE_BYTES * i, SAMPLE_BYTES)
            memcpy(samples + SAMPLE_BYTES * i, samples + SAMPLE_BYTES * j, SAMPLE_BYTES)
            memcpy(samples + SAMPLE_BYTES * j, swapped, SAMPLE_BYTES)


# A number that only the sixteen symmetric images of a board share; plies are ignored.
cdef inline uint64_t image_key(const Board *b) noexcept nogil:
    cdef uint64_t least = <uint64_t>-1, image
    cdef int symmetry
    for symmetry in range(SYMMETRY_COUNT):
        image = image_of(symmetry, b.own) | <uint64_t>image_of(symmetry, b.opponent) << 24
        if image < least:
            least = image
    return least | <uint64_t>b.own_hand << 48 | <uint64_t>b.opponent_hand << 52


# Whether a number is in a sorted list.
cdef inline bint is_listed(const uint64_t *listed, Py_ssize_t end, uint64_t number) noexcept nogil:
    cdef Py_ssize_t start = 0, middle
    while start < end:
        middle = (start + end) >> 1
        if listed[middle] < number:
            start = middle + 1
        elif listed[middle] > number:
            end = middle
        else:
            return True
    return False


# Whether the positions of a key are held out.
cdef inline bint is_held_out_key(uint64_t key) noexcept nogil:
    return below(mix(key), HELD_OUT) == 0


def board_key(tuple fields not None):
    cdef Board b = load_board(fields)
    load_index(0)
    return image_key(&b)


def is_held_out(tuple fields not None):
    return is_held_out_key(board_key(fields))


def select_samples(data, unseen, bint held_out):
    cdef _Span samples = span_of(data), keys = span_of(unseen, width=sizeof(uint64_t))
    cdef Py_ssize_t i, number = check_samples(samples), written = 0
    cdef Py_ssize_t key_count = keys.size // sizeof(uint64_t)
    cdef Sample sample
    cdef uint64_t key
    cdef bytearray selected = bytearray(samples.size)
    cdef uint8_t *out = selected
    load_index(0)
    with nogil:
        for i in range(number):
            read_sample(samples.start + SAMPLE_BYTES * i, &sample)
            key = image_key(&sample.board)
            if is_held_out_key(key) == held_out and (
                    not is_listed(<const uint64_t *>keys.start, key_count, key)):
                write_sample(out + SAMPLE_BYTES * written, &sample)
                written += 1
    del selected[SAMPLE_BYTES * written:]
    return selected
