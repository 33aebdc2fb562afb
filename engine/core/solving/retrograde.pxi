# Retrograde analysis (Ströhlein, 1970; for this game Gasser, "Solving Nine Men's Morris", 1996):
# the class that solves a sector, stage by stage, with threads of Python.
#
# Needs all retrograde_*.pxi, packing.pxi.

cdef enum:
    STAGE_NONE = -1          # before the first stage
    STAGE_REMOVALS = 0       # values of A's removals
    STAGE_FIRST_A = 1        # initial values of the table with A to move
    STAGE_FIRST_B = 2        # initial values of the table with B to move
    STAGE_LEVEL = 3          # repeated for depths of 1, 2, … plies
    STAGE_PACK = 4           # pack the values, and count the states by value


cdef inline int value_of_state(int state) noexcept nogil:
    return LOST * (state == STATE_LOST) + WON * (state >= STATE_LEAST_WON)


# Replace state bytes by table values.
cdef void convert_states(uint8_t *states, uint64_t number) noexcept nogil:
    cdef uint64_t i
    for i in range(number):
        states[i] = value_of_state(states[i])


# The number of tables that a stage works on.
cdef inline int tables_of(int stage) noexcept nogil:
    return 2 if stage == STAGE_LEVEL or stage == STAGE_PACK else 1


# Work on the current stage, PIECE blocks at a time, until no blocks are left or the work is
# stopped.
cdef void work_on(Sector *p, Scratch *s) noexcept nogil:
    cdef uint64_t settled[2][4]
    cdef uint64_t piece, first, last, cls, place
    cdef uint64_t pieces = (p.classes + PIECE - 1) // PIECE
    cdef int tables = tables_of(p.stage)
    cdef int table, i
    memset(settled, 0, sizeof(settled))
    while not read_shared(&p.stop):
        piece = fetch_add(&p.next, 1)
        if piece >= pieces * tables:
            break
        table = piece >= pieces
        first = (piece - table * pieces) * PIECE
        last = first + PIECE if first + PIECE < p.classes else p.classes
        if p.stage == STAGE_PACK:
            place = first * p.size
            convert_states(p.states[table] + place, (last - first) * p.size)
            pack_values(p.states[table] + place, (last - first) * p.size,
                        p.packed[table] + (place >> 2))
        for cls in range(first, last):
            if p.stage == STAGE_LEVEL:
                advance(p, table, cls, settled[table], s)
            elif p.stage == STAGE_PACK:
                tally_values(p.states[table] + cls * p.size, MEMBER[p.men[0]][cls], p.men[1],
                             settled[table])
            elif p.stage == STAGE_REMOVALS:
                weigh_removals_of_a(p, cls, s)
            elif p.stage == STAGE_FIRST_A:
                start_block_a(p, cls, s)
            elif p.men[0] == p.men[1]:
                copy_block_b(p, cls, s)
            else:
                start_block_b(p, cls, s)
    for table in range(2):
        for i in range(4):
            fetch_add(&p.settled[table][i], settled[table][i])


# The tables that removals in a sector lead to, as numbers of men of the side to move and of the
# other side.
cdef list removals_lead_to(const RuleSet *rules, int larger, int smaller):
    cdef list tables = []
    for removed in range(1, 3 if rules.each_mill else 2):
        if smaller - removed >= MINIMUM_MEN:
            tables.append((smaller - removed, larger))
        if larger - removed >= MINIMUM_MEN and larger > smaller:
            tables.append((larger - removed, smaller))
    return tables


def sector_memory(int larger, int smaller, bint with_depths):
    cdef uint64_t places = count_places(larger, smaller, 0), blocks = CLASSES[larger]
    cdef uint64_t words = (BINOMIAL[POINT_COUNT - larger][smaller] + 63) // 64
    cdef uint64_t frontier = 8 * blocks * (
        words * 8 + sizeof(uint32_t) + LIST_SIZE * sizeof(uint16_t))
    cdef uint64_t arcs = blocks * (sizeof(Frame) + sizeof(Arc) * most_arcs(larger, smaller))
    return places * (4 if with_depths else 2) + max(frontier, places // 2) + arcs + OTHER_MEMORY


cdef class Retrograde:
    cdef Sector sector
    cdef object lower        # the owner of `sector.tables`
    cdef list packed         # the memory of the packed tables
    cdef int longest[2][2]   # by table and kind: the greatest depth, or -1
    cdef uint64_t settled    # number of states of both tables that levels have settled
    cdef int users           # see platform.pxi

    def __cinit__(self, tuple rules not None, int larger, int smaller, bint with_depths,
                  lower not None):
        cdef Sector *p = &self.sector
        cdef bint allocated
        p.stage = STAGE_NONE
        memset(self.longest, 0xFF, sizeof(self.longest))
        if not MINIMUM_MEN <= smaller <= larger <= MEN_PER_SIDE:
            raise ValueError(
                f"expected 3 to 9 men, the larger side first, found {larger} and {smaller}")
        self.lower = lower
        p.tables = borrow_tables(lower)
        p.rules = load_rules(rules)
        p.men[0] = larger
        p.men[1] = smaller
        self.check_lower()
        p.empty = POINT_COUNT - larger
        p.low = (p.empty + 1) // 2
        p.size = BINOMIAL[p.empty][smaller]
        p.words = (p.size + 63) // 64
        p.classes = CLASSES[larger]
        p.least_listed = least_listed_depth(&p.rules, larger, smaller)
        p.flying[0] = flies(&p.rules, larger, 0, smaller, 0)
        p.flying[1] = flies(&p.rules, smaller, 0, larger, 0)
        with nogil:
            allocated = allocate_sector(p, with_depths)
        if not allocated:
            raise MemoryError(f"no memory to solve {larger} men against {smaller}")

    def __dealloc__(self):
        free_sector(&self.sector)

    cdef int check_lower(self) except -1:
        cdef int own, opponent
        for own, opponent in removals_lead_to(
                &self.sector.rules, self.sector.men[0], self.sector.men[1]):
            # Packed tables are too slow for solving.
            if self.sector.tables.values[0][own][opponent] == NULL:
                raise ValueError(
                    f"cannot solve {self.sector.men[0]}-{self.sector.men[1]}: "
                    f"the table {own}-{opponent} is missing")
        return 0

    def advance(self):
        cdef Sector *p = &self.sector
        claim(&self.users, "this stage")
        try:
            if self.started() < self.pieces() and not read_shared(&p.stop):
                raise RuntimeError("the stage is not done")
            if p.stage == STAGE_FIRST_B:
                self.note_blocked()
            if p.stage == STAGE_LEVEL and self.note_level():
                self.begin(STAGE_LEVEL, p.level + 1)
            elif p.stage == STAGE_PACK:
                return False
            else:
                self.begin(p.stage + 1, p.stage + 1 == STAGE_LEVEL)
            return True
        finally:
            end_claim(&self.users)

    cdef int begin(self, int stage, int level) except -1:
        cdef Sector *p = &self.sector
        if stage == STAGE_PACK:
            self.packed = [packed_memory(self.places()), packed_memory(self.places())]
            free_frontiers(p)
            p.packed[0] = self.packed[0]
            p.packed[1] = self.packed[1]
        p.stage = stage
        p.level = level
        p.next = 0
        memset(p.settled, 0, sizeof(p.settled))
        return 0

    # A blocked loss has depth 0.
    cdef void note_blocked(self) noexcept:
        cdef int table
        cdef uint32_t cls
        for table in range(2):
            for cls in range(self.sector.classes):
                if self.sector.frontier[table][NEW_LOST][0].counts[cls]:
                    self.longest[table][NEW_LOST] = 0

    # Note the longest depths after a level; return whether another level follows.
    cdef bint note_level(self) noexcept:
        cdef Sector *p = &self.sector
        cdef int table, kind
        cdef uint64_t settled = 0
        for table in range(2):
            for kind in range(2):
                if p.settled[table][kind]:
                    self.longest[table][kind] = p.level
                    settled += p.settled[table][kind]
        self.settled += settled
        return settled and p.level != plies_limit(&p.rules, p.men[0], p.men[1])

    def work(self):
        cdef Scratch *s = NULL
        share(&self.users, "this stage")
        try:
            share(&self.sector.tables.users, "the set of tables")
            try:
                self.check_lower()
                s = new_scratch(&self.sector)
                if s == NULL:
                    raise MemoryError("no scratch memory for a thread")
                if self.sector.stage != STAGE_NONE:
                    with nogil:
                        work_on(&self.sector, s)
            finally:
                free_scratch(s)
                end_sharing(&self.sector.tables.users)
        finally:
            end_sharing(&self.users)

    # The number of units of work in the stage.
    cdef uint64_t pieces(self) noexcept:
        cdef uint64_t pieces = (self.sector.classes + PIECE - 1) // PIECE
        if self.sector.stage == STAGE_NONE:
            return 0
        return pieces * tables_of(self.sector.stage)

    # The number of units of work that threads have taken.
    cdef uint64_t started(self) noexcept:
        return fetch_add(&self.sector.next, 0)

    def stop(self):
        write_shared(&self.sector.stop, 1)

    @property
    def level(self):
        return self.sector.level

    @property
    def done(self):
        cdef double share
        if self.sector.stage >= STAGE_LEVEL:
            return 0.5 + self.settled / (4.0 * self.places())
        share = min(1.0, self.started() / <double>max(self.pieces(), <uint64_t>1))
        return 0.5 * (max(self.sector.stage, 0) + share) / STAGE_LEVEL

    # The number of places in each table.
    cdef uint64_t places(self) noexcept:
        return <uint64_t>self.sector.classes * self.sector.size

    def tally(self, int table):
        cdef uint64_t *counts
        cdef int *longest
        self.check_packed(table)
        counts, longest = self.sector.settled[table], self.longest[table]
        return (counts[DRAWN], counts[WON], counts[LOST],
                None if longest[NEW_WON] < 0 else longest[NEW_WON],
                None if longest[NEW_LOST] < 0 else longest[NEW_LOST])

    cdef int check_packed(self, int table) except -1:
        if self.packed is None or not 0 <= table <= 1:
            raise ValueError("expected table 0 or 1, after packing")
        return 0

    def values(self, int table):
        self.check_packed(table)
        return memoryview(self.packed[table])[:(self.places() + 3) // 4]

    def depths(self, int table):
        cdef uint64_t places = self.places(), total
        cdef bytearray depths
        cdef uint8_t *out
        self.check_packed(table)
        if self.sector.depths[table] == NULL:
            raise ValueError("the sector was solved without depths")
        total = count_listed(self.sector.depths[table], places)
        depths = bytearray(4 * index_size(places) + 3 * total)
        out = depths
        with nogil:
            write_list(self.sector.depths[table], places, out, total)
        return memoryview(depths)
