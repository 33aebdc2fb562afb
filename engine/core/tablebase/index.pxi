# The index of the tables: from a board with empty hands to its place, and back, by combinatorial
# ranking.
#
# The side with more men (the side to move where both have equally many) is named by its class
# under the 16 symmetries of the board; the other side's men by the rank of their set among the
# points that the class's representative leaves empty. Places run class by class, rank by rank.
# Every order is the rising order of masks as numbers. See FORMAT.md.
#
# Needs bitboard.pxi, board.pxi.

cdef enum:
    SYMMETRY_COUNT = 16
    HALF = 12                # bits of a mask that one look-up ranks
    LOW_HALF = 0xFFF

# A mask's rank among masks of the same size: START[bits][upper half] + LOW_RANK[lower half].
cdef uint32_t START[MEN_PER_SIDE + 1][1 << HALF]
cdef uint16_t LOW_RANK[1 << HALF]
cdef uint32_t BINOMIAL[POINT_COUNT + 1][POINT_COUNT + 1]
cdef uint32_t IMAGE[SYMMETRY_COUNT][3][256]     # what a symmetry makes of each byte of a mask
cdef uint8_t MAPPED[SYMMETRY_COUNT][POINT_COUNT]
cdef uint8_t INVERSE[SYMMETRY_COUNT]
cdef uint32_t *CLASS_OF[MEN_PER_SIDE + 1]           # by rank: class << 4 | symmetry to its member
cdef uint32_t *MEMBER[MEN_PER_SIDE + 1]             # by class: its smallest mask
cdef uint32_t CLASSES[MEN_PER_SIDE + 1]
cdef uint32_t *MASKS[MEN_PER_SIDE + 1]              # by rank: masks of a smaller side, compressed
cdef bint index_loaded = False


cdef inline uint32_t rank_of(uint32_t mask, int bits) noexcept nogil:
    assert 0 <= bits <= MEN_PER_SIDE and count(mask) == bits and mask >> POINT_COUNT == 0
    return START[bits][mask >> HALF] + LOW_RANK[mask & LOW_HALF]


cdef inline uint32_t image_of(int symmetry, uint32_t mask) noexcept nogil:
    assert 0 <= symmetry < SYMMETRY_COUNT and mask >> POINT_COUNT == 0
    return (IMAGE[symmetry][0][mask & 0xFF] | IMAGE[symmetry][1][(mask >> 8) & 0xFF]
            | IMAGE[symmetry][2][mask >> 16])


# The mask with the points of `men`, none of which it holds, left out.
cdef inline uint32_t compress(uint32_t mask, uint32_t men) noexcept nogil:
    cdef uint32_t below
    assert (mask & men) == 0
    while men:
        below = (men & (0 - men)) - 1
        mask = (mask & below) | ((mask >> 1) & ~below)
        men = (men & (men - 1)) >> 1
    return mask


# The inverse of `compress`.
cdef inline uint32_t expand(uint32_t mask, uint32_t men) noexcept nogil:
    cdef uint32_t below
    while men:
        below = (men & (0 - men)) - 1
        mask = (mask & below) | ((mask & ~below) << 1)
        men &= men - 1
    return mask


# The larger side's class and the place of the smaller side within the class's block.
cdef inline uint32_t locate(uint32_t larger, int larger_count, uint32_t smaller,
                            int smaller_count, uint32_t *place) noexcept nogil:
    cdef uint32_t cls = CLASS_OF[larger_count][rank_of(larger, larger_count)]
    cdef uint32_t image = image_of(cls & 15, smaller)
    assert cls >> 4 < CLASSES[larger_count]
    assert image_of(cls & 15, larger) == MEMBER[larger_count][cls >> 4]
    place[0] = rank_of(compress(image, MEMBER[larger_count][cls >> 4]), smaller_count)
    assert place[0] < BINOMIAL[POINT_COUNT - larger_count][smaller_count]
    return cls >> 4


# The same, whichever side is the larger.
cdef inline uint32_t locate_sides(uint32_t own, int own_count, uint32_t opponent,
                                  int opponent_count, uint32_t *place) noexcept nogil:
    if own_count >= opponent_count:
        return locate(own, own_count, opponent, opponent_count, place)
    return locate(opponent, opponent_count, own, own_count, place)


cdef void load_ranks() noexcept nogil:
    cdef int n, k, bits
    cdef uint32_t mask
    cdef uint32_t seen[HALF + 1]
    for n in range(POINT_COUNT + 1):
        BINOMIAL[n][0] = 1
        for k in range(1, POINT_COUNT + 1):
            BINOMIAL[n][k] = 0 if n == 0 else BINOMIAL[n - 1][k - 1] + BINOMIAL[n - 1][k]
    memset(seen, 0, sizeof(seen))
    for mask in range(1 << HALF):
        LOW_RANK[mask] = seen[count(mask)]
        seen[count(mask)] += 1
    for bits in range(MEN_PER_SIDE + 1):
        START[bits][0] = 0
        for mask in range((1 << HALF) - 1):
            k = bits - count(mask)
            START[bits][mask + 1] = START[bits][mask] + (BINOMIAL[HALF][k] if k >= 0 else 0)


# The next larger mask of the same size (Gosper's hack, HAKMEM item 175).
cdef inline uint32_t next_mask(uint32_t mask) noexcept nogil:
    cdef uint32_t low = mask & (0 - mask)
    cdef uint32_t up = mask + low
    return up | (((mask ^ up) >> 2) / low)


# Class every set of `men` points, and list the compressed masks of a smaller side of so many men.
cdef bint load_classes(int men) noexcept nogil:
    cdef uint32_t total = BINOMIAL[POINT_COUNT][men]
    cdef uint32_t *class_of = <uint32_t *>malloc(total * sizeof(uint32_t))
    cdef uint32_t *member = <uint32_t *>malloc((total // 8 + 64) * sizeof(uint32_t))
    cdef uint32_t *masks = <uint32_t *>malloc(BINOMIAL[POINT_COUNT - men][men] * sizeof(uint32_t))
    cdef uint32_t mask = (1u << men) - 1, classes = 0, rank
    cdef int symmetry
    if class_of == NULL or member == NULL or masks == NULL:
        return False
    memset(class_of, 0xFF, total * sizeof(uint32_t))
    for rank in range(total):
        if rank < BINOMIAL[POINT_COUNT - men][men]:
            masks[rank] = mask
        if class_of[rank] == 0xFFFFFFFFu:
            # The set is the smallest of a new class; from each image of it one symmetry leads back.
            assert classes < total // 8 + 64
            member[classes] = mask
            for symmetry in range(SYMMETRY_COUNT - 1, -1, -1):
                class_of[rank_of(image_of(INVERSE[symmetry], mask), men)] = classes << 4 | symmetry
            classes += 1
        mask = next_mask(mask)
    CLASS_OF[men] = class_of
    MEMBER[men] = member
    CLASSES[men] = classes
    MASKS[men] = masks
    return True


# Fill the arrays of this file, at first use: it takes some hundredths of a second.
cdef void load_index() except *:
    global index_loaded
    cdef int men, point, symmetry, other, byte
    cdef bint filled = True
    if index_loaded:
        return
    for symmetry in range(SYMMETRY_COUNT):
        for point in range(POINT_COUNT):
            MAPPED[symmetry][point] = board.SYMMETRIES[symmetry][point]
    for symmetry in range(SYMMETRY_COUNT):
        for other in range(SYMMETRY_COUNT):
            if all(MAPPED[other][MAPPED[symmetry][point]] == point for point in range(POINT_COUNT)):
                INVERSE[symmetry] = other
        for byte in range(256):
            for other in range(3):
                IMAGE[symmetry][other][byte] = 0
                for point in range(8):
                    if byte >> point & 1:
                        IMAGE[symmetry][other][byte] |= 1u << MAPPED[symmetry][8 * other + point]
    # With the interpreter's lock, so that no other thread finds these half filled.
    load_ranks()
    for men in range(MINIMUM_MEN, MEN_PER_SIDE + 1):
        filled = filled and load_classes(men)
    if not filled:
        raise MemoryError("no memory for the index of the tables")
    index_loaded = True


def table_classes(int men):
    load_index()
    return CLASSES[men]


def table_place(uint32_t own, uint32_t opponent):
    cdef uint32_t rank, cls
    load_index()
    cls = locate_sides(own, count(own), opponent, count(opponent), &rank)
    return cls, rank


def table_board(int own_count, int opponent_count, uint32_t cls, uint32_t rank):
    cdef int larger = max(own_count, opponent_count), smaller = min(own_count, opponent_count)
    load_index()
    cdef uint32_t men = MEMBER[larger][cls], others = expand(MASKS[smaller][rank], men)
    return (men, others) if own_count >= opponent_count else (others, men)
