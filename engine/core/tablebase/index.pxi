# The index of the tables: from a board to its place and back, by combinatorial ranking.
#
# One side's men are reduced to their class under the 16 symmetries of the board; the class's member
# is its smallest mask. The other side's men are ranked among the sets of points that the member
# leaves empty. A table has a block of places for each class, with one place for each rank. All
# orders are the rising order of masks as numbers. See FORMAT.md.
#
# The side that is reduced to its class is
# - without men in hand, the side with more men, or the side to move if both have the same number;
# - with an even number of men in hand, the side to move;
# - with an odd number of men in hand, the opponent.
#
# Needs bitboard.pxi, board.pxi.

cdef enum:
    SYMMETRY_COUNT = 16
    HALF = 12                # bits of a mask that one look-up table ranks
    LOW_HALF = 0xFFF

# A mask's rank among masks of the same size: HIGH_RANK[bits][upper half] + LOW_RANK[lower half].
cdef uint32_t HIGH_RANK[MEN_PER_SIDE + 1][1 << HALF]
cdef uint16_t LOW_RANK[1 << HALF]
cdef uint32_t BINOMIAL[POINT_COUNT + 1][POINT_COUNT + 1]
cdef uint32_t IMAGE[SYMMETRY_COUNT][3][256]         # the image of each byte of a mask
cdef uint8_t MAPPED[SYMMETRY_COUNT][POINT_COUNT]    # the image of each point
cdef uint8_t INVERSE[SYMMETRY_COUNT]
cdef uint32_t *CLASS_OF[MEN_PER_SIDE + 1]           # by rank: an entry, see `class_in`
cdef uint32_t *MEMBER[MEN_PER_SIDE + 1]             # by class: its smallest mask
cdef uint32_t CLASSES[MEN_PER_SIDE + 1]             # number of classes
cdef uint32_t *MASKS[MEN_PER_SIDE + 1]              # by rank
cdef int sizes_loaded = 0                           # men 0 to sizes_loaded - 1 are classified
_INDEX_LOCK = allocate_lock()


cdef inline uint32_t rank_of(uint32_t mask, int bits) noexcept nogil:
    assert 0 <= bits <= MEN_PER_SIDE and count(mask) == bits and mask >> POINT_COUNT == 0
    return HIGH_RANK[bits][mask >> HALF] + LOW_RANK[mask & LOW_HALF]


cdef inline uint32_t image_of(int symmetry, uint32_t mask) noexcept nogil:
    assert 0 <= symmetry < SYMMETRY_COUNT and mask >> POINT_COUNT == 0
    return (IMAGE[symmetry][0][mask & 0xFF] | IMAGE[symmetry][1][(mask >> 8) & 0xFF]
            | IMAGE[symmetry][2][mask >> 16])


# Remove the bits of the points of `men` from a mask, which has none of these points.
cdef inline uint32_t compress(uint32_t mask, uint32_t men) noexcept nogil:
    cdef uint32_t below
    assert (mask & men) == 0
    if likely(HAS_BIT_GATHER):
        return gather_bits(mask, ALL & ~men)
    while men:
        below = (men & (0 - men)) - 1
        mask = (mask & below) | ((mask >> 1) & ~below)
        men = (men & (men - 1)) >> 1
    return mask


# An entry of CLASS_OF: the class of a mask, and the symmetry that maps it to the class's member.
cdef inline uint32_t entry_of(uint32_t cls, uint32_t symmetry) noexcept nogil:
    return cls << 4 | symmetry


cdef inline uint32_t class_in(uint32_t entry) noexcept nogil:
    return entry >> 4


cdef inline uint32_t symmetry_in(uint32_t entry) noexcept nogil:
    return entry & (SYMMETRY_COUNT - 1)


# The inverse of `compress`.
cdef inline uint32_t expand(uint32_t mask, uint32_t men) noexcept nogil:
    cdef uint32_t below
    if likely(HAS_BIT_GATHER):
        return scatter_bits(mask, ALL & ~men)
    while men:
        below = (men & (0 - men)) - 1
        mask = (mask & below) | ((mask & ~below) << 1)
        men &= men - 1
    return mask


# Return the class of one side's men; set `place` to the place within the class's block.
cdef inline uint32_t locate(uint32_t side, int side_count, uint32_t other, int other_count,
                            uint32_t *place) noexcept nogil:
    cdef uint32_t entry = CLASS_OF[side_count][rank_of(side, side_count)], cls = class_in(entry)
    cdef uint32_t image = image_of(symmetry_in(entry), other)
    assert cls < CLASSES[side_count]
    assert image_of(symmetry_in(entry), side) == MEMBER[side_count][cls]
    place[0] = rank_of(compress(image, MEMBER[side_count][cls]), other_count)
    assert place[0] < BINOMIAL[POINT_COUNT - side_count][other_count]
    return cls


# Whether the blocks of a table are the classes of the side to move's men. With men in hand the
# choice does not depend on numbers of men, so removals do not change it. After a placement from an
# even number in hand, the blocks still belong to the side that placed. The other side's placement
# therefore stays within a block.
cdef inline bint by_own_class(int own_count, int opponent_count, int hand) noexcept nogil:
    return hand & 1 == 0 if hand else own_count >= opponent_count


# The number of classes, and thus of blocks, of a table.
cdef inline uint32_t classes_of(int own_count, int opponent_count, int hand) noexcept nogil:
    return CLASSES[own_count if by_own_class(own_count, opponent_count, hand) else opponent_count]


# Return the class of a board; set `place` to its place within the class's block.
cdef inline uint32_t locate_sides(uint32_t own, int own_count, uint32_t opponent,
                                  int opponent_count, int hand, uint32_t *place) noexcept nogil:
    if by_own_class(own_count, opponent_count, hand):
        return locate(own, own_count, opponent, opponent_count, place)
    return locate(opponent, opponent_count, own, own_count, place)


# The number of places in a block.
cdef inline uint32_t block_size(int own_count, int opponent_count, int hand) noexcept nogil:
    if by_own_class(own_count, opponent_count, hand):
        return BINOMIAL[POINT_COUNT - own_count][opponent_count]
    return BINOMIAL[POINT_COUNT - opponent_count][own_count]


# The place of a board in its table.
cdef inline uint64_t place_of(uint32_t own, int own_count, uint32_t opponent, int opponent_count,
                              int hand) noexcept nogil:
    cdef uint32_t rank
    cdef uint64_t cls = locate_sides(own, own_count, opponent, opponent_count, hand, &rank)
    return cls * block_size(own_count, opponent_count, hand) + rank


# The inverse of `locate_sides`: the men of both sides at a place in a class's block.
cdef inline void men_at(int own_count, int opponent_count, int hand, uint32_t cls, uint32_t place,
                        uint32_t *own, uint32_t *opponent) noexcept nogil:
    if by_own_class(own_count, opponent_count, hand):
        own[0] = MEMBER[own_count][cls]
        opponent[0] = expand(MASKS[opponent_count][place], own[0])
    else:
        opponent[0] = MEMBER[opponent_count][cls]
        own[0] = expand(MASKS[own_count][place], opponent[0])


cdef void load_ranks() noexcept nogil:
    cdef int n, k, bits
    cdef uint32_t mask
    cdef uint32_t ranked[HALF + 1]       # masks ranked so far, by number of bits
    for n in range(POINT_COUNT + 1):
        BINOMIAL[n][0] = 1
        for k in range(1, POINT_COUNT + 1):
            BINOMIAL[n][k] = 0 if n == 0 else BINOMIAL[n - 1][k - 1] + BINOMIAL[n - 1][k]
    memset(ranked, 0, sizeof(ranked))
    for mask in range(1 << HALF):
        LOW_RANK[mask] = ranked[count(mask)]
        ranked[count(mask)] += 1
    for bits in range(MEN_PER_SIDE + 1):
        HIGH_RANK[bits][0] = 0
        for mask in range((1 << HALF) - 1):
            k = bits - count(mask)
            HIGH_RANK[bits][mask + 1] = HIGH_RANK[bits][mask] + (BINOMIAL[HALF][k] if k >= 0 else 0)


# The next larger mask of the same size (Gosper's hack, HAKMEM item 175).
cdef inline uint32_t next_mask(uint32_t mask) noexcept nogil:
    cdef uint32_t up
    if mask == 0:
        return 0
    up = mask + (mask & (0 - mask))
    return up | ((mask ^ up) >> 2 >> lowest(mask))


# Classify all sets of `men` points; return False if there is too little memory.
cdef bint load_classes(int men) noexcept nogil:
    cdef uint32_t total = BINOMIAL[POINT_COUNT][men]
    cdef uint32_t *class_of = <uint32_t *>malloc(total * sizeof(uint32_t))
    cdef uint32_t *member = <uint32_t *>malloc((total // 8 + 64) * sizeof(uint32_t))
    cdef uint32_t *masks = <uint32_t *>malloc(total * sizeof(uint32_t))
    cdef uint32_t mask = (1u << men) - 1, classes = 0, rank, image
    cdef int symmetry
    if class_of == NULL or member == NULL or masks == NULL:
        free(class_of)
        free(member)
        free(masks)
        return False
    memset(class_of, 0xFF, total * sizeof(uint32_t))
    for rank in range(total):
        masks[rank] = mask
        if class_of[rank] == 0xFFFFFFFFu:
            # The set is the smallest of a new class. Each of its images gets the first symmetry
            # that leads back to it.
            assert classes < total // 8 + 64
            member[classes] = mask
            for symmetry in range(SYMMETRY_COUNT - 1, -1, -1):
                image = image_of(INVERSE[symmetry], mask)
                class_of[rank_of(image, men)] = entry_of(classes, symmetry)
            classes += 1
        mask = next_mask(mask)
    CLASS_OF[men] = class_of
    MEMBER[men] = member
    CLASSES[men] = classes
    MASKS[men] = masks
    return True


# Fill the arrays of this file for sets of up to `men` men, unless they are filled. Those for nine
# men take 10 of 21 MB; the tables that every engine opens need 0.1 MB for up to four men.
cdef void load_index(int men) except *:
    global sizes_loaded
    if read_shared(&sizes_loaded) > men:
        return
    with _INDEX_LOCK:        # No other thread may use half-filled arrays.
        if sizes_loaded == 0:
            load_symmetries()
            load_ranks()
        while sizes_loaded <= men:
            if not load_classes(sizes_loaded):
                raise MemoryError("no memory for the index of the tables")
            write_shared(&sizes_loaded, sizes_loaded + 1)


cdef void load_symmetries() except *:
    cdef int point, symmetry, other, ring, byte
    for symmetry in range(SYMMETRY_COUNT):
        for point in range(POINT_COUNT):
            MAPPED[symmetry][point] = board.SYMMETRIES[symmetry][point]
    for symmetry in range(SYMMETRY_COUNT):
        for other in range(SYMMETRY_COUNT):
            for point in range(POINT_COUNT):
                if MAPPED[other][MAPPED[symmetry][point]] != point:
                    break
            else:
                INVERSE[symmetry] = other
        for byte in range(256):
            for ring in range(3):
                IMAGE[symmetry][ring][byte] = 0
                for point in range(8):
                    if byte >> point & 1:
                        IMAGE[symmetry][ring][byte] |= 1u << MAPPED[symmetry][8 * ring + point]


# Whether these numbers of men on the board, and in hand of both sides together, are valid.
cdef bint are_counts(int own, int opponent, int hand) noexcept nogil:
    return (0 <= own <= MEN_PER_SIDE and 0 <= opponent <= MEN_PER_SIDE
            and 0 <= hand <= 2 * MEN_PER_SIDE and own + (hand + 1) // 2 <= MEN_PER_SIDE
            and opponent + hand // 2 <= MEN_PER_SIDE)


cdef int check_counts(int own, int opponent, int hand) except -1:
    if not are_counts(own, opponent, hand):
        raise ValueError(f"no table has {own} men against {opponent}, with {hand} in hand")
    load_index(max(own, opponent))
    return 0


cdef uint64_t count_places(int own, int opponent, int hand) except? 0:
    check_counts(own, opponent, hand)
    return <uint64_t>classes_of(own, opponent, hand) * block_size(own, opponent, hand)
