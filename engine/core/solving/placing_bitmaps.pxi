# Bitmaps over sets of men, with which the placing phase is solved 64 positions at a time.
#
# The men of one side are fixed. A set of the other side's men on the n remaining points, compressed
# to n bits, is an index into a bitmap of 2^n bits. Placing a man of the fixed side deletes one bit
# of every index, a symmetry of the board permutes the bits of the indices, and removing a man of
# the other side clears one of their bits.
#
# Needs bitboard.pxi, board.pxi, index.pxi.

cdef extern from *:
    """
    /* For each of the six lowest bits, the indices within a word of 64 that have it. */
    static const uint64_t HAVING[6] = {
        0xAAAAAAAAAAAAAAAAull, 0xCCCCCCCCCCCCCCCCull, 0xF0F0F0F0F0F0F0F0ull,
        0xFF00FF00FF00FF00ull, 0xFFFF0000FFFF0000ull, 0xFFFFFFFF00000000ull};
    """
    const uint64_t HAVING[6]

cdef enum:
    WORD_BITS = 6            # bits of an index within a word


# The number of words of a bitmap over sets on `points` points (at least 15).
cdef inline size_t words_over(int points) noexcept nogil:
    return <size_t>1 << (points - WORD_BITS)


# The words of a bitmap that are used, in rising order. The other words have only sets of more men
# than the side can have.
cdef struct UsedWords:
    uint32_t *words
    uint32_t size[POINT_COUNT + 1]       # used words of a bitmap, by its number of points


# List the used words of bitmaps over up to `points` points, for sets of up to `most` men; return
# False if there is too little memory.
cdef bint list_used_words(UsedWords *used, int points, int most) noexcept nogil:
    cdef uint32_t word, size = 0
    cdef int smaller = 0         # number of points of a smaller bitmap
    free(used.words)
    used.words = <uint32_t *>malloc(words_over(points) * sizeof(uint32_t))
    if used.words == NULL:
        return False
    for word in range(words_over(points)):
        # A bitmap over fewer points consists of the first words of a larger one.
        while smaller <= points and (smaller < WORD_BITS or word >= words_over(smaller)):
            used.size[smaller] = size
            smaller += 1
        if count(word) <= most:
            used.words[size] = word
            size += 1
    used.size[points] = size
    return True


# Exchange two bits of every index of a bitmap; `low` is within a word.
cdef void swap_index_bits(uint64_t *words, const UsedWords *used, uint32_t size, int low,
                          int other) noexcept nogil:
    cdef uint64_t changed, mask
    cdef uint32_t i, j, step
    cdef int shift = 1 << low
    if other < WORD_BITS:
        # `other` is above `low`, because lower bits are in their places already.
        mask = HAVING[low] & ~HAVING[other]
        shift = (1 << other) - shift
        for j in range(size):
            i = used.words[j]
            changed = (words[i] ^ (words[i] >> shift)) & mask
            words[i] ^= changed ^ (changed << shift)
        return
    mask = ~HAVING[low]
    step = 1u << (other - WORD_BITS)
    for j in range(size):
        i = used.words[j]
        if i & step == 0:
            changed = ((words[i] >> shift) ^ words[i + step]) & mask
            words[i + step] ^= changed
            words[i] ^= changed << shift


# A permutation of the index bits of a bitmap: exchanges that set the lowest WORD_BITS bits, then a
# new order of whole words.
cdef struct Permutation:
    int exchanges
    uint8_t low[WORD_BITS]
    uint8_t other[WORD_BITS]
    uint8_t high[POINT_COUNT]            # source of each bit above a word's, after the exchanges


# Plan the permutation in which bit k of a result's index comes from bit `source[k]`.
cdef void plan_permutation(Permutation *plan, const uint8_t *source, int points) noexcept nogil:
    cdef uint8_t present[POINT_COUNT]    # the current position of the source of bit k
    cdef int k, other
    memcpy(present, source, points)
    plan.exchanges = 0
    for k in range(WORD_BITS):
        if present[k] == k:
            continue
        plan.low[plan.exchanges] = k
        plan.other[plan.exchanges] = present[k]
        plan.exchanges += 1
        for other in range(k + 1, points):
            if present[other] == k:
                present[other] = present[k]
    for k in range(WORD_BITS, points):
        plan.high[k] = present[k]


# Copy a bitmap and permute its indices. `order` gives the word of the copy for each word of the
# result. If the result is over fewer points, its sets have none of the omitted points.
cdef void permute(const Permutation *plan, const UsedWords *used, const uint64_t *bitmap,
                  int points, int result_points, uint64_t *copy,
                  uint32_t *order) noexcept nogil:
    cdef int k
    cdef uint32_t i, j
    for j in range(used.size[points]):
        copy[used.words[j]] = bitmap[used.words[j]]
    for k in range(plan.exchanges):
        swap_index_bits(copy, used, used.size[points], plan.low[k], plan.other[k])
    # Each word's place follows from the place of the word without its lowest bit.
    order[0] = 0
    for j in range(1, used.size[result_points]):
        i = used.words[j]
        order[i] = order[i & (i - 1)] | 1u << (plan.high[lowest(i) + WORD_BITS] - WORD_BITS)


# Spread the 32 lower bits of a word over 64: insert a 0 as bit `gap` of each index.
cdef inline uint64_t spread_word(uint64_t half, int gap) noexcept nogil:
    cdef int bit = WORD_BITS - 2
    while bit >= gap:
        half = (half | (half << (1 << bit))) & ~HAVING[bit]
        bit -= 1
    return half


# OR a bitmap over `points` points, with its words in `order`, into a bitmap over one more point.
# The additional point is bit `gap` of an index; only sets without it change.
cdef void add_without_point(const uint64_t *bitmap, const uint32_t *order, const UsedWords *used,
                            int points, int gap, uint64_t *sum) noexcept nogil:
    cdef uint32_t i, j, below = (1u << max(gap - WORD_BITS, 0)) - 1
    cdef uint64_t word
    for j in range(used.size[points]):
        i = used.words[j]
        word = bitmap[order[i]]
        if gap < WORD_BITS:
            sum[2 * i] |= spread_word(word & 0xFFFFFFFFu, gap)
            sum[2 * i + 1] |= spread_word(word >> 32, gap)
        else:
            sum[(i & below) | ((i & ~below) << 1)] |= word


# The lines through each point without a fixed man: the mask of the other two points, or 0 if a
# fixed man is in the line. All points are compressed.
cdef struct Lines:
    int points
    uint32_t partners[POINT_COUNT][2]


cdef void load_lines(uint32_t men, Lines *lines) noexcept nogil:
    cdef int point, line
    cdef uint32_t partners
    lines.points = 0
    for point in range(POINT_COUNT):
        if (men >> point) & 1:
            continue
        for line in range(2):
            partners = PARTNERS[point][line]
            lines.partners[lines.points][line] = 0 if partners & men else compress(partners, men)
        lines.points += 1


# For one word of a bitmap, find for each point the sets that have the point (`present`), and the
# sets that fill the other points of at least one line (`closed`) or of both lines (`both_closed`)
# through the point.
cdef inline void examine_word(const Lines *lines, uint32_t word, uint64_t *present,
                              uint64_t *closed, uint64_t *both_closed) noexcept nogil:
    cdef uint64_t full[2]
    cdef uint32_t partners
    cdef int k, line
    for k in range(lines.points):
        present[k] = HAVING[k] if k < WORD_BITS else (
            0 - <uint64_t>((word >> (k - WORD_BITS)) & 1))
    for k in range(lines.points):
        for line in range(2):
            partners = lines.partners[k][line]
            full[line] = 0
            if partners:
                full[line] = present[lowest(partners)] & present[lowest(
                    partners & (partners - 1))]
        closed[k] = full[0] | full[1]
        both_closed[k] = full[0] & full[1]


# The value of a removal for each set of men: the best of the sets with one removable man fewer, or
# the value of the set itself if no man may be removed.
cdef void best_removals(const RuleSet *rules, const Lines *lines, const UsedWords *used,
                        const uint64_t *bitmap, uint64_t *best) noexcept nogil:
    cdef uint64_t present[POINT_COUNT]
    cdef uint64_t closed[POINT_COUNT]
    cdef uint64_t both_closed[POINT_COUNT]
    cdef uint64_t all_closed, removable_here, result
    cdef uint32_t word, j
    cdef int k
    for j in range(used.size[lines.points]):
        word = used.words[j]
        examine_word(lines, word, present, closed, both_closed)
        all_closed = ~<uint64_t>0
        for k in range(lines.points):
            all_closed &= ~present[k] | closed[k]
        # A man in a mill is safe, unless all men are in mills and the rules then allow removing
        # any; under these rules only the empty set has no removable man.
        result = bitmap[word] & all_closed if rules.locked_none else bitmap[0] & (word == 0)
        for k in range(lines.points):
            removable_here = ~closed[k] if rules.locked_none else ~closed[k] | all_closed
            removable_here &= present[k]
            if k < WORD_BITS:
                result |= removable_here & ((bitmap[word] & ~HAVING[k]) << (1 << k))
            elif removable_here:
                result |= removable_here & bitmap[word ^ (1u << (k - WORD_BITS))]
        best[word] = result


# The value of a placement for each set of men: the best of the sets with one man more. `quiet`,
# `one_mill` and `two_mills` have the values of those sets after closing no mill, one and two.
cdef void best_placements(const Lines *lines, const UsedWords *used, const uint64_t *quiet,
                          const uint64_t *one_mill, const uint64_t *two_mills,
                          uint64_t *best) noexcept nogil:
    cdef uint64_t present[POINT_COUNT]
    cdef uint64_t closed[POINT_COUNT]
    cdef uint64_t both_closed[POINT_COUNT]
    cdef uint64_t result, reached
    cdef uint32_t word, other, j
    cdef int k, shift
    for j in range(used.size[lines.points]):
        word = used.words[j]
        examine_word(lines, word, present, closed, both_closed)
        result = 0
        for k in range(lines.points):
            shift = 1 << k if k < WORD_BITS else 0
            other = word if shift else word | 1u << (k - WORD_BITS)
            if not shift and other == word:
                continue
            reached = ((quiet[other] >> shift) & ~closed[k]) | (
                (one_mill[other] >> shift) & closed[k] & ~both_closed[k]) | (
                (two_mills[other] >> shift) & both_closed[k])
            result |= reached & ~present[k]
        best[word] = result
