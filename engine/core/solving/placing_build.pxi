# The class that solves a slice of the placing phase, stage by stage, with threads of Python. X, Y,
# `p` and `s` are those of placing_slice.pxi.
#
# Needs packing.pxi, retrograde.pxi (STAGE_NONE), placing_slice.pxi, placing_tables.pxi.

cdef enum:
    STAGE_READ = 0           # repeated: read a table of the positions two placements later
    STAGE_REPLY = 1          # Y's placements, and its removals of X's men
    STAGE_REMOVE = 2         # X's removals of Y's men
    STAGE_PLACE = 3          # X's placements
    STAGE_WRITE = 4          # repeated for each sector: pack its values, and count them
    STAGE_FAILED = 9         # a stage could not be prepared; no stage may follow

# Estimated share of each stage in the work on a slice.
STAGE_SHARES = (0.3, 0.25, 0.05, 0.15, 0.25)


# The number of blocks of the current stage.
cdef uint32_t blocks_of(const Slice *p) noexcept nogil:
    if p.stage == STAGE_READ:
        return CLASSES[p.after[p.removed].men]
    return CLASSES[p.men + 1 if p.stage <= STAGE_REMOVE else p.men]


# Do the current stage's work on one block.
cdef void work_on_block(Slice *p, uint32_t cls, SliceScratch *s) noexcept nogil:
    cdef const Blocks *blocks = &p.after[p.removed]
    if p.stage == STAGE_REPLY:
        reply(p, cls, s)
    elif p.stage == STAGE_REMOVE:
        weigh_removals_of_y(p, cls, s)
    elif p.stage == STAGE_PLACE:
        place(p, cls, s)
    elif p.hand > 2 or blocks.men >= p.others:
        read_by_x(p, blocks, cls)
    else:                    # A table of the moving phase, in which Y has more men than X.
        read_by_y(p, blocks, cls)


# Work on the current stage, BLOCKS_AT_ONCE blocks at a time, until no blocks are left or the work
# is stopped.
cdef void work_on_slice(Slice *p, SliceScratch *s) noexcept nogil:
    cdef uint64_t counts[4]
    cdef uint64_t first
    cdef uint32_t blocks = blocks_of(p), last, cls
    cdef int i
    memset(counts, 0, sizeof(counts))
    while not read_shared(&p.stop):
        first = fetch_add(&p.next, 1) * BLOCKS_AT_ONCE
        if first >= blocks:
            break
        last = min(<uint32_t>first + BLOCKS_AT_ONCE, blocks)
        if p.stage == STAGE_WRITE:
            write_blocks(p, first, last, counts, s)
        else:
            for cls in range(first, last):
                work_on_block(p, cls, s)
    for i in range(4):
        fetch_add(&p.tally[i], counts[i])


cdef void free_blocks(Blocks *blocks) noexcept nogil:
    free(blocks.bitmaps)
    free(blocks.block_of_class)
    memset(blocks, 0, sizeof(Blocks))


# Allocate blocks, with all bits 0, for the classes of `men` men in which the man placed last may
# have closed at least `mills` mills. Return False if there is too little memory.
cdef bint allocate_blocks(Blocks *blocks, int men, int mills) noexcept nogil:
    cdef uint32_t cls, total = CLASSES[men]
    cdef size_t size
    free_blocks(blocks)
    blocks.men = men
    blocks.words = words_over(POINT_COUNT - men)
    if mills:
        blocks.block_of_class = <uint32_t *>malloc(total * sizeof(uint32_t))
        if blocks.block_of_class == NULL:
            return False
        total = 0
        for cls in range(CLASSES[men]):
            blocks.block_of_class[cls] = total
            total += max_closed_mills(MEMBER[men][cls]) >= mills
    size = 2 * total * blocks.words * sizeof(uint64_t)
    blocks.bitmaps = <uint64_t *>calloc(size + 64, 1)
    if blocks.bitmaps != NULL:
        advise_large_pages(blocks.bitmaps, size)
    return blocks.bitmaps != NULL


# Free the memory that a stage does not need, and allocate its own; return False if there is too
# little memory.
cdef bint prepare_stage(Slice *p, int stage) noexcept nogil:
    cdef int i
    cdef bint filled = True
    if stage == STAGE_REPLY:
        free(p.table)
        p.table = NULL
        return allocate_blocks(&p.placed[0], p.men + 1, 0) and list_used_words(
            &p.used, POINT_COUNT - max(p.men - 1, 0), p.most)
    if stage == STAGE_REMOVE:
        for i in range(3):
            free_blocks(&p.after[i])
        for i in range(1, 3 if p.rules.each_mill else 2):
            filled = filled and allocate_blocks(&p.placed[i], p.men + 1, i)
        return filled
    if stage == STAGE_PLACE:
        return allocate_blocks(&p.solved, p.men, 0)
    if stage == STAGE_WRITE:
        for i in range(3):
            free_blocks(&p.placed[i])
    return True


cdef void free_slice(Slice *p) noexcept nogil:
    cdef int i
    for i in range(3):
        free_blocks(&p.after[i])
        free_blocks(&p.placed[i])
    free_blocks(&p.solved)
    free(p.used.words)
    free(p.table)


cdef void free_slice_scratch(SliceScratch *s) noexcept nogil:
    if s != NULL:
        free(s.bitmap)
        free(s.removals[0])
        free(s.removals[1])
        free(s.order)
        free(s.states)
        free(s)


cdef SliceScratch *new_slice_scratch(const Slice *p) noexcept nogil:
    cdef SliceScratch *s = <SliceScratch *>calloc(1, sizeof(SliceScratch))
    cdef size_t words = words_over(POINT_COUNT - p.men - 1)
    cdef size_t states = BLOCKS_AT_ONCE * <size_t>BINOMIAL[POINT_COUNT - p.men][p.others] + 64
    if s == NULL:
        return NULL
    s.bitmap = <uint64_t *>calloc(4 * words, sizeof(uint64_t))
    s.removals[0] = <uint64_t *>malloc(2 * words * sizeof(uint64_t))
    s.removals[1] = <uint64_t *>malloc(2 * words * sizeof(uint64_t))
    s.order = <uint32_t *>malloc(words * sizeof(uint32_t))
    s.states = <uint8_t *>malloc(states)
    if (s.bitmap == NULL or s.removals[0] == NULL or s.removals[1] == NULL or s.order == NULL
            or s.states == NULL):
        free_slice_scratch(s)
        return NULL
    return s


# Size of the blocks of all classes of `men` men, in bytes.
cdef uint64_t blocks_memory(int men) noexcept nogil:
    return 2 * CLASSES[men] * words_over(POINT_COUNT - men) * sizeof(uint64_t)


def slice_memory(tuple rules not None, int own):
    cdef uint64_t larger, reading, placing
    cdef int doubles = 1 if load_rules(rules).each_mill else 0
    if not 0 <= own < MEN_PER_SIDE:
        raise ValueError(f"expected up to 8 men on the board, found {own}")
    load_index(own + 1)
    larger = blocks_memory(own + 1)
    reading = 2 * larger + blocks_memory(own) + (blocks_memory(own - 1) if doubles and own else 0)
    placing = (2 + doubles) * larger + blocks_memory(own)
    # A quarter of the blocks is more than any table, which has at most 19.7 % of their size.
    return max(reading, placing) + larger // 4 + OTHER_MEMORY


cdef class PlacingSlice:
    cdef Slice slice
    cdef object tables
    cdef list steps          # (stage, Y's men, removed men of X, share of the work), in order
    cdef int step            # index of the next step
    cdef bytearray packed    # the memory of the sector that is written
    cdef int users           # see platform.pxi

    def __cinit__(self, tuple rules not None, int hand, int own, opponents, tables not None):
        cdef Slice *p = &self.slice
        cdef list read, written
        cdef int others, removed
        p.stage = STAGE_NONE
        if not 2 <= hand <= 2 * MEN_PER_SIDE or hand % 2 or (
                not 0 <= own <= MEN_PER_SIDE - hand // 2):
            raise ValueError(f"no slice has {own} men to move and {hand} in hand")
        self.tables = tables
        p.tables = borrow_tables(tables)
        p.rules = load_rules(rules)
        p.hand = hand
        p.men = own
        read = [(others, removed)
                for removed in range(min(own, 2 if p.rules.each_mill else 1) + 1)
                for others in range(MEN_PER_SIDE - hand // 2 + 2)
                if has_table(p.tables, own + 1 - removed, others, hand - 2)]
        written = [others for others in opponents]
        if not read or read[0][1]:
            raise ValueError(f"no tables with {own + 1} men to move and {hand - 2} in hand")
        for others in written:
            check_counts(own, others, hand)
        self.steps = [
            *[(STAGE_READ, others, removed, STAGE_SHARES[STAGE_READ] / len(read))
              for others, removed in read],
            *[(stage, 0, 0, STAGE_SHARES[stage]) for stage in range(STAGE_REPLY, STAGE_WRITE)],
            *[(STAGE_WRITE, others, 0, STAGE_SHARES[STAGE_WRITE] / len(written))
              for others in written],
        ]

    def __dealloc__(self):
        free_slice(&self.slice)

    def advance(self):
        cdef Slice *p = &self.slice
        cdef int stage
        claim(&self.users, "this stage")
        try:
            if p.stage == STAGE_FAILED or p.stage != STAGE_NONE and not read_shared(&p.stop) and (
                    fetch_add(&p.next, 0) * BLOCKS_AT_ONCE < blocks_of(p)):
                raise RuntimeError("the stage is not done")
            if self.step == len(self.steps):
                return False
            stage, p.others, p.removed, _ = self.steps[self.step]
            p.stage = STAGE_FAILED
            self.step += 1
            p.next = 0
            memset(p.tally, 0, sizeof(p.tally))
            if not self.prepare(stage):
                raise MemoryError(f"no memory to solve {p.men} men to move and {p.hand} in hand")
            p.stage = stage
            return True
        finally:
            end_claim(&self.users)

    # Allocate the memory of a stage, and copy its table; return False if memory is too small.
    cdef bint prepare(self, int stage) except -1:
        cdef Slice *p = &self.slice
        cdef bint prepared
        with nogil:
            prepared = prepare_stage(p, stage)
        if prepared and stage == STAGE_READ:
            p.most = max(p.most, p.others)
            prepared = self.load_table(p.men + 1 - p.removed)
        elif prepared and stage == STAGE_WRITE:
            self.packed = packed_memory(count_places(p.men, p.others, p.hand))
            p.packed = self.packed
        return prepared

    # Copy the table into memory with large pages, because random reads of a mapped file are slower.
    cdef bint load_table(self, int own) except -1:
        cdef Slice *p = &self.slice
        cdef size_t size = (count_places(own, p.others, p.hand - 2) + 3) // 4
        cdef Blocks *blocks = &p.after[p.removed]
        cdef const uint8_t *values
        if blocks.bitmaps == NULL and not allocate_blocks(blocks, own, 0):
            return False
        free(p.table)
        p.table = <uint8_t *>malloc(size)
        if p.table == NULL:
            return False
        advise_large_pages(p.table, size)
        share(&self.slice.tables.users, "the set of tables")
        values = self.slice.tables.values[p.hand - 2][own][p.others]
        if values != NULL:
            with nogil:
                memcpy(p.table, values, size)
        end_sharing(&self.slice.tables.users)
        if values == NULL:
            raise ValueError(f"the table {table_name(own, p.others, p.hand - 2)} is missing")
        return True

    def work(self):
        cdef SliceScratch *s = NULL
        share(&self.users, "this stage")
        try:
            s = new_slice_scratch(&self.slice)
            if s == NULL:
                raise MemoryError("no scratch memory for a thread")
            if STAGE_READ <= self.slice.stage <= STAGE_WRITE:
                with nogil:
                    work_on_slice(&self.slice, s)
        finally:
            free_slice_scratch(s)
            end_sharing(&self.users)

    def stop(self):
        write_shared(&self.slice.stop, 1)

    @property
    def done(self):
        cdef double taken
        if not self.step:
            return 0.0
        taken = fetch_add(&self.slice.next, 0) * BLOCKS_AT_ONCE / <double>blocks_of(&self.slice)
        return sum([share for *_, share in self.steps[:self.step]]) - (
            (1 - min(1.0, taken)) * self.steps[self.step - 1][3])

    @property
    def written(self):
        cdef Slice *p = &self.slice
        cdef uint64_t *counts = p.tally
        share(&self.users, "this stage")
        try:
            if p.stage != STAGE_WRITE:
                return None
            values = memoryview(self.packed)[:(count_places(p.men, p.others, p.hand) + 3) // 4]
            return p.others, (counts[DRAWN], counts[WON], counts[LOST]), values
        finally:
            end_sharing(&self.users)
