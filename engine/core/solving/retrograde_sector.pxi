# Retrograde analysis: a sector (the men on each side) in memory, and its geometry.
#
# The larger side is called A and the smaller B; table 0 has A to move, table 1 has B. Both are cut
# into blocks, one for each class of A's men, and everything is done block by block, for a block
# fits a processor's cache. A move of B stays in its block. A move of A leads from one block to
# another by a map of points that is the same for all places: an arc. Places of a class that is
# symmetric in itself repeat each other; they are left to be states of their own with moves of
# their own, so that nothing needs to be counted twice or half. Throughout, `p` is the sector and
# `s` a thread's scratch memory.
#
# Needs platform.pxi, bitboard.pxi, board.pxi, index.pxi, probe.pxi, depths.pxi.

cdef enum:
    NEW_WON = 0              # kinds of newly settled states
    NEW_LOST = 1
    MAX_EMPTY = 21           # points that three men leave
    FEW = 64                 # states of a block's frontier that are listed besides
    PIECE = 32               # blocks that a thread takes at a time; a multiple of 4

cdef enum:
    # A state's byte: 1 to 127 counts the moves not yet known to lose, and one more where some move
    # never will; 0 is lost. A won state keeps being counted down, harmlessly, from 255.
    STATE_LOST = 0
    STATE_WON = 255
    STATE_OPEN_END = 128

cdef struct Arc:
    uint32_t target          # class of A's men after the move
    uint8_t mills            # closed by the move
    uint8_t entry            # where it goes to among the source's empty points
    uint8_t exit             # where it came from among the target's empty points
    uint8_t back[MAX_EMPTY]  # the target's empty points among the source's

cdef struct Frontier:        # states of one kind that were settled at one level
    uint64_t *bits           # by block
    uint32_t *counts         # by block
    uint16_t *lists          # by block, the first FEW

cdef struct Frame:           # of a block
    uint32_t men             # A's
    uint8_t point[MAX_EMPTY]             # by compressed point
    uint32_t steps[MAX_EMPTY]            # compressed: where B's man there may go
    uint32_t partners[MAX_EMPTY][2]      # compressed; 0: A has a man in the line

ctypedef uint32_t Halves[2][1 << 11]     # what each half of a compressed mask becomes

cdef struct Sector:
    RuleSet rules
    Tables *tables
    int men[2]               # of A, of B
    bint flying[2]
    int long_loss            # plies from which on a loss's depth is kept
    int empty                # points that A leaves
    int low                  # compressed points in the lower half
    uint32_t classes
    uint32_t size            # places in a block
    uint32_t words           # of 64 places in a block
    uint8_t *states[2]
    uint8_t *depths[2]
    Frontier frontier[2][2][2]           # table, kind, level & 1
    Arc *arcs
    uint32_t *first_arc      # by class
    Frame *frames            # by class
    uint64_t *holding        # by compressed point: the places of a block where B has a man there
    uint8_t *packed[2]       # two bits a place, in the end; not the sector's own memory
    int stage
    int level
    int stop
    uint64_t next            # pieces of work started
    uint64_t settled[2][4]   # by table: won and lost at this level; in the end, by value

cdef struct Scratch:         # a thread's own
    Halves map               # to another block's compressed points
    Halves points            # to the board's points
    uint8_t sums[2][1 << 11]
    uint8_t *open            # by place, with one block to spare
    uint8_t *results
    uint8_t *flags
    uint64_t *words
    uint64_t *places


cdef inline const uint64_t *holding_of(const Sector *p, int point) noexcept nogil:
    return p.holding + <size_t>point * p.words


# The geometry of a block, seen by B.
cdef void load_frame(const Sector *p, uint32_t cls, Frame *f) noexcept nogil:
    cdef int point, k = 0, line
    cdef uint32_t mask
    f.men = MEMBER[p.men[0]][cls]
    for point in range(POINT_COUNT):
        if (f.men >> point) & 1:
            continue
        mask = NEIGHBOURS[point] & ~f.men
        if p.flying[1]:
            mask = ALL & ~f.men & ~(1u << point)
        f.point[k] = point
        f.steps[k] = compress(mask, f.men)
        for line in range(2):
            mask = PARTNERS[point][line]
            f.partners[k][line] = 0 if mask & f.men else compress(mask, f.men)
        k += 1


# Prepare to send each compressed point to another.
cdef inline void load_halves(const Sector *p, const uint8_t *to, uint32_t (*halves)[1 << 11]
                             ) noexcept nogil:
    cdef int half, bit, i
    for half in range(2):
        halves[half][0] = 0
        for bit in range(p.low if half == 0 else p.empty - p.low):
            for i in range(1 << bit):
                halves[half][(1 << bit) + i] = halves[half][i] | 1u << to[bit + half * p.low]


# A compressed mask with its points sent where `load_halves` was told.
cdef inline uint32_t mapped(const Sector *p, const uint32_t (*halves)[1 << 11],
                            uint32_t mask) noexcept nogil:
    return halves[0][mask & ((1u << p.low) - 1)] | halves[1][mask >> p.low]


# Write the arcs of one class from `arc` on, unless it is NULL; returns how many there are.
cdef int load_arcs(const Sector *p, uint32_t cls, Arc *arc) noexcept nogil:
    cdef uint32_t men = MEMBER[p.men[0]][cls], left = men, targets, after, member, image
    cdef int origin, to, point, arcs = 0, symmetry
    cdef uint32_t entry
    while left:
        origin = lowest(left)
        left &= left - 1
        targets = ALL & ~men
        if not p.flying[0]:
            targets &= NEIGHBOURS[origin]
        while targets:
            to = lowest(targets)
            targets &= targets - 1
            if arc != NULL:
                after = (men & ~(1u << origin)) | (1u << to)
                entry = CLASS_OF[p.men[0]][rank_of(after, p.men[0])]
                symmetry = entry & 15
                arc.target = entry >> 4
                arc.mills = mills_at(men & ~(1u << origin), to)
                arc.entry = count(~men & ((1u << to) - 1))
                member = MEMBER[p.men[0]][arc.target]
                for point in range(POINT_COUNT):
                    if not (after >> point) & 1:
                        image = MAPPED[symmetry][point]
                        image = count(~member & ((1u << image) - 1))
                        if point == origin:
                            arc.exit = image
                            arc.back[image] = 0
                        else:
                            arc.back[image] = count(~men & ((1u << point) - 1))
                arc += 1
            arcs += 1
    return arcs


# All arcs and frames of the sector, class by class.
cdef bint load_blocks(Sector *p) noexcept nogil:
    cdef uint32_t cls, total = 0
    p.first_arc = <uint32_t *>malloc((p.classes + 1) * sizeof(uint32_t))
    if p.first_arc == NULL:
        return False
    for cls in range(p.classes):
        p.first_arc[cls] = total
        total += load_arcs(p, cls, NULL)
    p.first_arc[p.classes] = total
    p.arcs = <Arc *>malloc(total * sizeof(Arc))
    p.frames = <Frame *>malloc(p.classes * sizeof(Frame))
    if p.arcs == NULL or p.frames == NULL:
        return False
    for cls in range(p.classes):
        load_arcs(p, cls, p.arcs + p.first_arc[cls])
        load_frame(p, cls, &p.frames[cls])
    return True


# The bitmaps of the places where B has a man on each compressed point.
cdef bint load_holding(Sector *p) noexcept nogil:
    cdef uint32_t rank, left
    cdef const uint32_t *masks = MASKS[p.men[1]]
    p.holding = <uint64_t *>calloc(<size_t>p.words * p.empty, sizeof(uint64_t))
    if p.holding == NULL:
        return False
    for rank in range(p.size):
        left = masks[rank]
        while left:
            p.holding[<size_t>lowest(left) * p.words + (rank >> 6)] |= <uint64_t>1 << (rank & 63)
            left &= left - 1
    return True


# Ask for large pages for memory that may begin anywhere in a page.
cdef inline void spare_translations(void *memory, size_t size) noexcept nogil:
    cdef size_t start = (<size_t>memory + 4095) & ~<size_t>4095
    if size > PAGE:
        large_pages(<void *>start, (<size_t>memory + size - start) & ~<size_t>4095)


# Get all memory that the sector needs; False where there is not enough.
cdef bint allocate_sector(Sector *p, bint with_depths) noexcept nogil:
    cdef int i
    cdef Frontier *frontier
    cdef size_t places = <size_t>p.classes * p.size
    for i in range(2):
        p.states[i] = <uint8_t *>calloc(places + 64, 1)
        if p.states[i] == NULL:
            return False
        spare_translations(p.states[i], places)
        if with_depths:
            p.depths[i] = <uint8_t *>calloc(places + 64, 1)
            if p.depths[i] == NULL:
                return False
    for i in range(8):
        frontier = &p.frontier[0][0][0] + i
        frontier.bits = <uint64_t *>calloc(<size_t>p.classes * p.words, sizeof(uint64_t))
        frontier.counts = <uint32_t *>calloc(p.classes, sizeof(uint32_t))
        frontier.lists = <uint16_t *>calloc(<size_t>p.classes * FEW, sizeof(uint16_t))
        if frontier.bits == NULL or frontier.counts == NULL or frontier.lists == NULL:
            return False
    return load_blocks(p) and load_holding(p)


# Free what only the levels need.
cdef void free_frontiers(Sector *p) noexcept nogil:
    cdef int i
    cdef Frontier *frontier
    for i in range(8):
        frontier = &p.frontier[0][0][0] + i
        free(frontier.bits)
        free(frontier.counts)
        free(frontier.lists)
        memset(frontier, 0, sizeof(Frontier))


cdef void free_sector(Sector *p) noexcept nogil:
    cdef int table
    free_frontiers(p)
    for table in range(2):
        free(p.states[table])
        free(p.depths[table])
    free(p.arcs)
    free(p.first_arc)
    free(p.frames)
    free(p.holding)


cdef Scratch *new_scratch(const Sector *p) noexcept nogil:
    cdef Scratch *s = <Scratch *>calloc(1, sizeof(Scratch))
    cdef size_t room = 64 * <size_t>p.words
    if s == NULL:
        return NULL
    s.open = <uint8_t *>malloc(room)
    s.results = <uint8_t *>malloc(room)
    s.flags = <uint8_t *>malloc(room)
    s.words = <uint64_t *>malloc(room // 8)
    s.places = <uint64_t *>malloc(room * sizeof(uint64_t))
    if (s.open == NULL or s.results == NULL or s.flags == NULL or s.words == NULL
            or s.places == NULL):
        free_scratch(s)
        return NULL
    return s


cdef void free_scratch(Scratch *s) noexcept nogil:
    if s != NULL:
        free(s.open)
        free(s.results)
        free(s.flags)
        free(s.words)
        free(s.places)
        free(s)
