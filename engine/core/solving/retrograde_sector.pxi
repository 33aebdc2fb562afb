# Retrograde analysis: a sector in memory, and its geometry.
#
# The larger side is called A and the smaller side B. A is to move in table 0, B in table 1. Both
# tables have a block for each class of A's men. All work is done block by block, because a block
# fits into a processor's cache. A move of B stays in its block. A move of A is an arc from its
# block to a block; an arc's map of points is the same for all places. If a class is symmetric in
# itself, several places are the same position. They are solved as separate states with moves of
# their own, so that numbers of moves need no correction.
#
# A state is settled once it is known to be won or lost. A level is a depth in plies, and a level's
# frontier has the states that were settled at it. Throughout, `p` is the sector and `s` a thread's
# scratch memory.
#
# Needs platform.pxi, bitboard.pxi, board.pxi, index.pxi, probe.pxi, depths.pxi.

cdef enum:
    NEW_WON = 0              # kinds of newly settled states
    NEW_LOST = 1
    MAX_EMPTY = 21           # empty points beside three men
    HALF_MASKS = 1 << 11     # masks of half of MAX_EMPTY points, rounded up
    LIST_SIZE = 64           # most states of a block's frontier that are also in a list
    PIECE = 32               # blocks in a thread's unit of work; a multiple of 4

cdef enum:
    # A state's byte. 0: lost. 1 to 127: not settled; the number of moves not yet known to lose,
    # plus 1 if the state is known to be at least a draw. 128 to 255: won. A won state begins at
    # STATE_WON and is still decremented for each of its moves that loses.
    STATE_LOST = 0
    STATE_LEAST_WON = 128
    STATE_WON = 255

cdef struct Arc:
    uint32_t target          # class of A's men after the move
    uint8_t mills            # closed by the move
    uint8_t entry            # the man's target, as an index of the source's empty points
    uint8_t exit             # the man's origin, as an index of the target's empty points
    uint8_t back[MAX_EMPTY]  # for each empty point of the target, its index in the source

cdef struct Frontier:        # states of one kind that were settled at one level, by block
    uint64_t *bits
    uint32_t *counts
    uint16_t *lists          # the first LIST_SIZE states of each block

cdef struct Frame:           # the geometry of a block; compressed points are those without A's men
    uint32_t men             # A's men
    uint8_t point[MAX_EMPTY]             # the board's point
    uint32_t steps[MAX_EMPTY]            # points to which a man of B may move
    uint32_t partners[MAX_EMPTY][2]      # the line's other points; 0: A has a man in the line

ctypedef uint32_t Halves[2][HALF_MASKS]     # the image of each half of a compressed mask

cdef struct Sector:
    RuleSet rules
    Tables *tables
    int men[2]               # numbers of men of A and B
    bint flying[2]
    int least_listed         # least depth of a loss that is stored, in plies
    int empty                # number of points without a man of A: compressed points
    int low                  # number of compressed points in the lower half
    uint32_t classes
    uint32_t size            # places in a block
    uint32_t words           # words of 64 places in a block
    uint8_t *states[2]
    uint8_t *depths[2]
    Frontier frontier[2][2][2]           # table, kind, level & 1
    Arc *arcs
    uint32_t *first_arc      # by class
    Frame *frames            # by class
    uint64_t *holding        # for each compressed point, the places at which B has a man there
    uint8_t *packed[2]       # the result, two bits a place; owned by the Python object
    int stage
    int level
    int stop
    uint64_t next            # number of units of work started
    uint64_t settled[2][4]   # by table: states won and lost at this level; after packing, by value

cdef struct Scratch:         # memory of one thread
    Halves map               # to another block's compressed points
    Halves points            # to the board's points
    uint8_t sums[2][HALF_MASKS]             # by half mask: quiet moves whose entry is occupied
    uint8_t *moves           # by place: number of moves within the sector
    uint8_t *results         # by place: value of the best removal
    uint8_t *flags           # by place: values of the removals that a state can make
    uint64_t *words
    uint64_t *places


cdef inline const uint64_t *holding_of(const Sector *p, int point) noexcept nogil:
    return p.holding + <size_t>point * p.words


# Set the geometry of a block.
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


# Prepare `mapped` for a map of compressed points.
cdef inline void load_halves(const Sector *p, const uint8_t *to, uint32_t (*halves)[HALF_MASKS]
                             ) noexcept nogil:
    cdef int half, bit, i
    for half in range(2):
        halves[half][0] = 0
        for bit in range(p.low if half == 0 else p.empty - p.low):
            for i in range(1 << bit):
                halves[half][(1 << bit) + i] = halves[half][i] | 1u << to[bit + half * p.low]


# The image of a compressed mask under the map of `load_halves`.
cdef inline uint32_t mapped(const Sector *p, const uint32_t (*halves)[HALF_MASKS],
                            uint32_t mask) noexcept nogil:
    return halves[0][mask & ((1u << p.low) - 1)] | halves[1][mask >> p.low]


# The greatest number of arcs of a class, if men may fly.
cdef inline int most_arcs(int larger, int smaller) noexcept nogil:
    return larger * (POINT_COUNT - larger if smaller == FLYING_MEN else 4)


# Write the arcs of one class from `arc` on; return their number.
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
            after = (men & ~(1u << origin)) | (1u << to)
            entry = CLASS_OF[p.men[0]][rank_of(after, p.men[0])]
            symmetry = symmetry_in(entry)
            arc.target = class_in(entry)
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


# Allocate and set all arcs and frames of the sector; return False if there is too little memory.
cdef bint load_blocks(Sector *p) noexcept nogil:
    cdef uint32_t cls, total = 0
    p.first_arc = <uint32_t *>malloc((p.classes + 1) * sizeof(uint32_t))
    p.frames = <Frame *>malloc(p.classes * sizeof(Frame))
    # The system allocates pages only when they are written to.
    p.arcs = <Arc *>malloc(<size_t>p.classes * most_arcs(p.men[0], p.men[1]) * sizeof(Arc))
    if p.first_arc == NULL or p.frames == NULL or p.arcs == NULL:
        return False
    for cls in range(p.classes):
        p.first_arc[cls] = total
        total += load_arcs(p, cls, p.arcs + total)
        load_frame(p, cls, &p.frames[cls])
    p.first_arc[p.classes] = total
    return True


# Allocate and set `holding`; return False if there is too little memory.
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


# Ask for large pages for memory that need not start at a page.
cdef inline void advise_large_pages(void *memory, size_t size) noexcept nogil:
    cdef size_t start = (<size_t>memory + 4095) & ~<size_t>4095
    if size > PAGE:
        large_pages(<void *>start, (<size_t>memory + size - start) & ~<size_t>4095)


# Allocate all memory of the sector; return False if there is not enough.
cdef bint allocate_sector(Sector *p, bint with_depths) noexcept nogil:
    cdef int i
    cdef Frontier *frontier
    cdef size_t places = <size_t>p.classes * p.size
    for i in range(2):
        p.states[i] = <uint8_t *>calloc(places + 64, 1)
        if p.states[i] == NULL:
            return False
        advise_large_pages(p.states[i], places)
        if with_depths:
            p.depths[i] = <uint8_t *>calloc(places + 64, 1)
            if p.depths[i] == NULL:
                return False
    for i in range(8):
        frontier = &p.frontier[0][0][0] + i
        frontier.bits = <uint64_t *>calloc(<size_t>p.classes * p.words, sizeof(uint64_t))
        frontier.counts = <uint32_t *>calloc(p.classes, sizeof(uint32_t))
        frontier.lists = <uint16_t *>calloc(<size_t>p.classes * LIST_SIZE, sizeof(uint16_t))
        if frontier.bits == NULL or frontier.counts == NULL or frontier.lists == NULL:
            return False
    return load_blocks(p) and load_holding(p)


# Free the frontiers, which no stage after the levels needs.
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
    cdef size_t size = 64 * <size_t>p.words
    if s == NULL:
        return NULL
    s.moves = <uint8_t *>malloc(size)
    s.results = <uint8_t *>malloc(size)
    s.flags = <uint8_t *>malloc(size)
    s.words = <uint64_t *>malloc(size // 8)
    s.places = <uint64_t *>malloc(size * sizeof(uint64_t))
    if (s.moves == NULL or s.results == NULL or s.flags == NULL or s.words == NULL
            or s.places == NULL):
        free_scratch(s)
        return NULL
    return s


cdef void free_scratch(Scratch *s) noexcept nogil:
    if s != NULL:
        free(s.moves)
        free(s.results)
        free(s.flags)
        free(s.words)
        free(s.places)
        free(s)
