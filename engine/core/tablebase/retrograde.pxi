# The class that Python drives: one pair of men counts, solved stage by stage.

STAGES = (STAGE_REMOVALS, STAGE_FIRST_A, STAGE_FIRST_B, STAGE_LEVEL, STAGE_PACK)


def _removals_lead_to(tuple rules, int larger, int smaller):
    """The tables, the side to move first, that removals in a pair lead to."""
    for taken in range(1, 3 if load_rules(rules).each_mill else 2):
        if smaller - taken >= MINIMUM_MEN:
            yield smaller - taken, larger
        if larger - taken >= MINIMUM_MEN and larger > smaller:
            yield larger - taken, smaller


def pair_memory(int larger, int smaller, bint with_depths):
    """Bytes that `Retrograde` takes for a pair at most."""
    cdef uint64_t places = table_places(larger, smaller)
    cdef uint64_t blocks = CLASSES[larger]
    cdef uint64_t words = (BINOMIAL[POINT_COUNT - larger][smaller] + 63) // 64
    cdef uint64_t news = 8 * blocks * (words * 8 + sizeof(uint32_t) + FEW * sizeof(uint16_t))
    cdef uint64_t arcs = blocks * sizeof(Frame) + blocks * sizeof(Arc) * (
        larger * (POINT_COUNT - larger) if smaller == 3 else 4 * larger)
    return places * (4 if with_depths else 2) + max(news, places // 2) + arcs + (1 << 24)


cdef class Retrograde:
    """The retrograde analysis of ``larger`` against ``smaller`` men, either to move.

    Every stage is begun by one thread with `begin` and then worked on by any number of threads
    that call `work`, which returns when none of it is left. ``lower`` must hold the tables that
    removals lead to.
    """

    cdef Pair pair
    cdef TableSet lower

    def __cinit__(self, tuple rules, int larger, int smaller, bint with_depths, TableSet lower):
        cdef Pair *p = &self.pair
        cdef bint allocated
        if not MINIMUM_MEN <= smaller <= larger <= MEN_PER_SIDE:
            raise ValueError("a pair has 3 to 9 men a side, the larger side first")
        self.lower = lower
        for one, other in _removals_lead_to(rules, larger, smaller):
            if not lower.has(one, other):
                raise ValueError(f"{larger}-{smaller} needs the table {one}-{other}")
        p.tables = &lower.tables
        p.rules = load_rules(rules)
        p.men[0] = larger
        p.men[1] = smaller
        p.empty = POINT_COUNT - larger
        p.low = (p.empty + 1) // 2
        p.size = BINOMIAL[p.empty][smaller]
        p.words = (p.size + 63) // 64
        p.classes = CLASSES[larger]
        p.flying[0] = larger == 3 and p.rules.flying == FLYING_OWN
        p.flying[1] = smaller == 3 and p.rules.flying != FLYING_NEVER
        if smaller == 3 and p.rules.flying == FLYING_BOTH:
            p.flying[0] = True
        with nogil:
            allocated = allocate_pair(p, with_depths)
        if not allocated:
            raise MemoryError(f"no memory to solve {larger} men against {smaller}")

    def __dealloc__(self):
        free_pair(&self.pair)

    def begin(self, int stage, int level=0):
        """Make one of `STAGES` ready for `work`; ``level`` is of the stage of that name."""
        cdef Pair *p = &self.pair
        cdef int table
        p.stage = stage
        p.level = level
        p.next = 0
        memset(p.settled, 0, sizeof(p.settled))
        if stage == STAGE_PACK:
            free_news(p)
            for table in range(2):
                p.packed[table] = <uint8_t *>malloc(self.packed_size() + 8)
                if p.packed[table] == NULL:
                    raise MemoryError("no memory to pack the table")

    def work(self):
        """Take part in the stage that was begun; blocks until none of it is left."""
        cdef Scratch *s = new_scratch(&self.pair)
        if s == NULL:
            raise MemoryError("no memory for a thread's own tables")
        with nogil:
            work_on(&self.pair, s)
            free_scratch(s)

    def stop(self):
        """Let every `work` return early; nothing of the pair can be used then."""
        write_shared(&self.pair.stop, 1)

    @property
    def done(self):
        """How much of the stage was begun, from 0 to 1."""
        cdef uint64_t pieces = (self.pair.classes + PIECE - 1) // PIECE
        if self.pair.stage == STAGE_LEVEL or self.pair.stage == STAGE_PACK:
            pieces *= 2
        return min(1.0, fetch_add(&self.pair.next, 0) / <double>pieces)

    @property
    def settled(self):
        """States won and lost at the level worked on last, for each table: A and B to move."""
        return tuple((self.pair.settled[table][0], self.pair.settled[table][1])
                     for table in range(2))

    @property
    def tallies(self):
        """After packing: canonical states drawn, won and lost, for each table."""
        return tuple((self.pair.settled[table][DRAWN], self.pair.settled[table][WON],
                      self.pair.settled[table][LOST]) for table in range(2))

    def blocked(self):
        """For each table, whether a state is lost at once; to ask before the second level."""
        cdef uint32_t found
        cdef int table
        some = [False, False]
        for table in range(2):
            for found in range(self.pair.classes):
                if self.pair.news[table][NEWS_LOST][0].counts[found]:
                    some[table] = True
                    break
        return tuple(some)

    @property
    def places(self):
        """Places in each table."""
        return <uint64_t>self.pair.classes * self.pair.size

    cdef uint64_t packed_size(self):
        """Bytes of each table at two bits a place."""
        return (<uint64_t>self.pair.classes * self.pair.size + 3) // 4

    def values(self, int table):
        """After packing: a table's bytes, which live as long as this object."""
        return memoryview(<uint8_t[:self.packed_size()]>self.pair.packed[table])

    def depths(self, int table):
        """A table's depths, a byte a place, which live as long as this object."""
        return memoryview(<uint8_t[:self.places]>self.pair.depths[table])
