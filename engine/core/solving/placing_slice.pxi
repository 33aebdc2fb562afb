# A slice of the placing phase: all positions with a given even number of men in hand, half for each
# side, and a given number of men of the side to move on the board. It is solved from the positions
# two placements later.
#
# The side to move is called X and its opponent Y. There is a block for each class of X's men, with
# two bitmaps over the sets of Y's men: the sets with which a side wins, and the sets with which it
# holds (at least draws). Y's placements stay in their block, apart from removals. X's placements
# lead from block to block by a permutation of index bits and the deletion of one. Throughout, `p`
# is the slice and `s` a thread's scratch memory.
#
# Needs platform.pxi, placing_bitmaps.pxi, probe.pxi, retrograde_sector.pxi (advise_large_pages).

cdef enum:
    WINS = 0                 # index of a block's bitmap
    HOLDS = 1
    BLOCKS_AT_ONCE = 16      # blocks in a thread's unit of work; a multiple of 4

cdef struct Blocks:          # the blocks of all classes of a number of X's men
    int men
    size_t words             # words of a bitmap
    uint64_t *bitmaps        # two for each block
    uint32_t *block_of_class # NULL: blocks are numbered as classes

cdef struct Slice:
    RuleSet rules
    Tables *tables
    int hand
    int men                  # number of X's men on the board
    int most                 # greatest number of Y's men on the board after both placements
    UsedWords used
    Blocks after[3]          # values for Y after both placements, with 0, 1 or 2 men of X removed
    Blocks placed[3]         # values for X after its placement, with 0, 1 or 2 men of Y removed
    Blocks solved            # the result: values for X
    uint8_t *table           # values of the sector that is read
    uint8_t *packed          # values of the sector that is written, two bits a place
    uint64_t tally[4]
    int stage
    int removed              # the index in `after` that is read
    int others               # number of Y's men in the sector that is read or written
    int stop
    uint64_t next            # number of units of work started

cdef struct SliceScratch:    # memory of one thread
    Lines lines
    uint64_t *bitmap         # a copy that is permuted
    uint64_t *removals[2]    # a block's bitmaps after the removal of one man of X, and of two
    uint32_t *order          # order of the words of `bitmap`
    uint8_t *states          # values of the blocks that are written, a byte each


cdef inline uint64_t *bitmap_of(const Blocks *blocks, uint32_t cls, int kind) noexcept nogil:
    if blocks.block_of_class != NULL:
        cls = blocks.block_of_class[cls]
    return blocks.bitmaps + (2 * <size_t>cls + kind) * blocks.words


# OR into `best` the values after X's men `gone` are removed from `men`. `blocks` has the values for
# the remaining number of X's men.
cdef void add_removal(const Slice *p, const Blocks *blocks, uint32_t men, uint32_t gone,
                      uint64_t *best, SliceScratch *s) noexcept nogil:
    cdef uint32_t left = men & ~gone, entry, cls, member, image, word
    cdef int points = POINT_COUNT - blocks.men, result_points = POINT_COUNT - count(men)
    cdef int next_index[2]
    cdef int point
    cdef uint32_t i, kind
    cdef uint32_t size = words_over(result_points)
    cdef uint8_t sources[POINT_COUNT]
    cdef Permutation plan
    if blocks.bitmaps == NULL:
        return               # No table was read: Y has too few men to have closed a mill.
    entry = CLASS_OF[blocks.men][rank_of(left, blocks.men)]
    cls = class_in(entry)
    member = MEMBER[blocks.men][cls]
    next_index[0] = 0                # first the points that were empty before,
    next_index[1] = result_points    # then those of the removed men
    for point in range(POINT_COUNT):
        if not (left >> point) & 1:
            image = MAPPED[symmetry_in(entry)][point]
            sources[next_index[(gone >> point) & 1]] = count(~member & ((1u << image) - 1))
            next_index[(gone >> point) & 1] += 1
    plan_permutation(&plan, sources, points)
    for kind in range(2):
        permute(&plan, &p.used, bitmap_of(blocks, cls, kind), points, result_points, s.bitmap,
                s.order)
        for i in range(p.used.size[result_points]):
            word = p.used.words[i]
            best[kind * size + word] |= s.bitmap[s.order[word]]


# Whether X has lost with `men` men on the board, after a removal by Y.
cdef inline bint too_few(const Slice *p, int men) noexcept nogil:
    return men + p.hand // 2 - 1 < MINIMUM_MEN


# Set the values for Y of removing one man of X, and two.
cdef void weigh_removals_of_x(const Slice *p, uint32_t cls, SliceScratch *s) noexcept nogil:
    cdef uint32_t men = MEMBER[p.men + 1][cls], left = removable(&p.rules, men), gone
    cdef size_t size = words_over(POINT_COUNT - p.men - 1)
    cdef MoveList pairs
    cdef int i, removals
    for removals in range(1, 3 if p.rules.each_mill else 2):
        memset(s.removals[removals - 1], 0, 2 * size * sizeof(uint64_t))
        if left == 0:
            memcpy(s.removals[removals - 1], bitmap_of(&p.after[0], cls, WINS),
                   2 * size * sizeof(uint64_t))
        elif too_few(p, p.men + 1 - removals):
            memset(s.removals[removals - 1], 0xFF, 2 * size * sizeof(uint64_t))
    if not too_few(p, p.men):
        while left:
            add_removal(p, &p.after[1], men, left & (0 - left), s.removals[0], s)
            left &= left - 1
    if p.rules.each_mill and not too_few(p, p.men - 1):
        pairs.size = add_double(&p.rules, men, pairs.moves, NO_POINT, 0) - pairs.moves
        for i in range(pairs.size):
            gone = removed_men(pairs.moves[i]) & ALL
            # A pair has only one man if no second man may be removed.
            add_removal(p, &p.after[count(gone)], men, gone, s.removals[1], s)


# Solve Y's placements in a block of X's men after X's placement.
cdef void reply(Slice *p, uint32_t cls, SliceScratch *s) noexcept nogil:
    cdef size_t size = words_over(POINT_COUNT - p.men - 1)
    cdef uint32_t i
    cdef const uint64_t *one_mill
    cdef const uint64_t *two_mills
    cdef uint64_t *placed
    cdef int kind
    weigh_removals_of_x(p, cls, s)
    load_lines(MEMBER[p.men + 1][cls], &s.lines)
    for kind in range(2):
        one_mill = s.removals[0] + kind * size
        two_mills = one_mill
        if p.rules.each_mill:
            two_mills = s.removals[1] + kind * size
        # X wins if Y does not hold, and holds if Y does not win.
        placed = bitmap_of(&p.placed[0], cls, 1 - kind)
        best_placements(&s.lines, &p.used, bitmap_of(&p.after[0], cls, kind), one_mill, two_mills,
                        placed)
        for i in range(p.used.size[s.lines.points]):
            placed[p.used.words[i]] = ~placed[p.used.words[i]]


# The greatest number of mills that the last placed man of a set may have closed: 0, 1 or 2.
cdef int max_closed_mills(uint32_t men) noexcept nogil:
    cdef uint32_t left = men
    cdef int most = 0
    while left:
        most = max(most, mills_at(men, lowest(left)))
        left &= left - 1
    return most


# Set the values for X of removing one man of Y, and two, if X's placement may have closed mills.
cdef void weigh_removals_of_y(Slice *p, uint32_t cls, SliceScratch *s) noexcept nogil:
    cdef uint32_t men = MEMBER[p.men + 1][cls]
    cdef int mills = max_closed_mills(men), kind, removals
    if mills == 0:
        return
    load_lines(men, &s.lines)
    for removals in range(1, 1 + (mills if p.rules.each_mill else 1)):
        # Two men are removed one after the other.
        for kind in range(2):
            best_removals(&p.rules, &s.lines, &p.used,
                          bitmap_of(&p.placed[removals - 1], cls, kind),
                          bitmap_of(&p.placed[removals], cls, kind))


# OR into a block of the result the values after X's placement on one point.
cdef void place_on(const Slice *p, uint32_t cls, int point, SliceScratch *s) noexcept nogil:
    cdef uint32_t men = MEMBER[p.men][cls], placed = men | 1u << point
    cdef uint32_t entry = CLASS_OF[p.men + 1][rank_of(placed, p.men + 1)]
    cdef uint32_t member = MEMBER[p.men + 1][class_in(entry)], image
    cdef int mills = mills_at(men, point), points = POINT_COUNT - p.men - 1, k = 0, kind, i
    cdef const Blocks *blocks = &p.placed[min(mills, 2 if p.rules.each_mill else 1)]
    cdef uint8_t sources[POINT_COUNT]
    cdef Permutation plan
    for i in range(POINT_COUNT):
        if not (placed >> i) & 1:
            image = MAPPED[symmetry_in(entry)][i]
            sources[k] = count(~member & ((1u << image) - 1))
            k += 1
    plan_permutation(&plan, sources, points)
    for kind in range(2):
        permute(&plan, &p.used, bitmap_of(blocks, class_in(entry), kind), points, points, s.bitmap,
                s.order)
        add_without_point(s.bitmap, s.order, &p.used, points, count(~men & ((1u << point) - 1)),
                          bitmap_of(&p.solved, cls, kind))


# Solve X's placements in a block of the result.
cdef void place(Slice *p, uint32_t cls, SliceScratch *s) noexcept nogil:
    cdef uint32_t empty = ALL & ~MEMBER[p.men][cls]
    while empty:
        place_on(p, cls, lowest(empty), s)
        empty &= empty - 1
