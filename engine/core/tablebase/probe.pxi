# Probing finished tables: a few dozen nanoseconds where the page is in memory.
#
# Needs board.pxi, movegen.pxi, index.pxi, blocks.pxi; for the depths of a board, depths.pxi.

cdef enum:
    DRAWN = 0                # the two bits of a place
    WON = 1
    LOST = 2
    UNKNOWN = 3              # no table
    NOT_LOST = 4             # drawn or won: all that some packed tables tell

cdef struct Tables:
    RuleSet rules
    # By the men in hand of both sides together (0 is the moving phase), the side to move's men on
    # the board and the opponent's; NULL where there is no table. The lists of depths are of the
    # moving phase.
    const uint8_t *values[2 * MEN_PER_SIDE + 1][MEN_PER_SIDE + 1][MEN_PER_SIDE + 1]
    const uint8_t *depths[MEN_PER_SIDE + 1][MEN_PER_SIDE + 1]
    const Packed *packed[2 * MEN_PER_SIDE + 1][MEN_PER_SIDE + 1][MEN_PER_SIDE + 1]


cdef inline int value_at(const uint8_t *values, uint64_t place) noexcept nogil:
    return (values[place >> 2] >> (2 * (place & 3))) & 3


# What the table of a board's numbers of men has for it; UNKNOWN where there is none. `place` is set
# where there is one.
cdef inline int stored_value(const Tables *tables, const Board *b, uint64_t *place) noexcept nogil:
    cdef int own = count(b.own), opponent = count(b.opponent)
    cdef int own_hand = b.own_hand, opponent_hand = b.opponent_hand
    cdef const uint8_t *values = tables.values[own_hand + opponent_hand][own][opponent]
    cdef const Packed *packed
    # As White and Black take turns, hands differ by one man at most. With others the game may be
    # set up, but no table has it.
    if own_hand - opponent_hand != (own_hand + opponent_hand) & 1:
        return UNKNOWN
    if likely(values != NULL):
        place[0] = place_of(b.own, own, b.opponent, opponent, own_hand + opponent_hand)
        return value_at(values, place[0])
    packed = tables.packed[own_hand + opponent_hand][own][opponent]
    if packed == NULL:
        return UNKNOWN
    place[0] = place_of(b.own, own, b.opponent, opponent, own_hand + opponent_hand)
    return packed_value(packed, place[0])


cdef inline int packed_value(const Packed *packed, uint64_t place) noexcept nogil:
    cdef int bits = packed_bits(packed, place)
    if bits < 0:
        return UNKNOWN
    if packed.width == 2:
        return bits
    return LOST if bits else NOT_LOST


# The value of a board one ply ahead: the best of the moves, and at least `best`, which is LOST or,
# where the board is known not to be lost, DRAWN.
cdef int look_ahead(const Tables *tables, const Board *b, int best) noexcept nogil:
    cdef int i, value, closing
    cdef uint64_t place
    cdef MoveList list
    cdef Board after
    for closing in range(1, -1, -1):
        # Moves that close a mill first: they are few, and win most often.
        generate(&tables.rules, b, &list, closing, not closing)
        for i in range(list.size):
            make(b, list.moves[i], &after)
            value = LOST if own_short(&after) else stored_value(tables, &after, &place)
            if value == UNKNOWN or (value == NOT_LOST and best == LOST):
                value = known_value(tables, &after, &place)
            if value == LOST:
                return WON
            if value == UNKNOWN or (value == DRAWN and best == LOST):
                best = value
    return best


# The value of a board with three men or more a side, those in hand included. `place` is set where a
# table has the board.
cdef int known_value(const Tables *tables, const Board *b, uint64_t *place) noexcept nogil:
    cdef int value = stored_value(tables, b, place)
    if value == NOT_LOST:
        return look_ahead(tables, b, DRAWN)
    if value == UNKNOWN and b.own_hand == b.opponent_hand + 1:
        # The tables of an odd number of men in hand are not kept.
        return look_ahead(tables, b, LOST)
    return value


# The value of a board for the side to move, in the moving phase as if just after a removal.
cdef int table_probe(const Tables *tables, const Board *b) noexcept nogil:
    cdef uint64_t place = 0
    assert is_sound(b)
    if unlikely(someone_short(b)):
        return LOST if own_short(b) else WON
    return known_value(tables, b, &place)


# The least and the greatest value (-1, 0, 1) given the plies since the last removal; False where no
# table has the board. A win is certain while its depth fits into the plies left; without its depth
# it may have become a draw, but never a loss. With men in hand no plies count.
cdef bint table_bounds(const Tables *tables, const Board *b, int *least,
                       int *greatest) noexcept nogil:
    cdef int depth, value = table_probe(tables, b)
    cdef int limit = plies_limit(&tables.rules, count(b.own), count(b.opponent))
    least[0] = greatest[0] = 0
    if value == UNKNOWN:
        return False
    if value == DRAWN:
        return True
    if limit and b.plies and not b.own_hand | b.opponent_hand:
        depth = depth_of(tables, b, value)
        if depth < 0 or (depth == MAX_STORED and b.plies + depth <= limit):
            least[0] = -(value == LOST)
            greatest[0] = value == WON
            return True
        if depth and b.plies + depth > limit:
            return True
    least[0] = greatest[0] = 1 if value == WON else -1
    return True


cdef class TableSet:
    cdef Tables tables
    cdef BlockCache cache
    cdef int users           # see guard.pxi
    cdef object changing     # a lock: one change at a time
    cdef dict values         # what the tables point to
    cdef dict depths
    cdef list packed

    def __cinit__(self, tuple rules not None):
        load_index()
        self.tables.rules = load_rules(rules)
        self.changing = allocate_lock()
        self.values = {}
        self.depths = {}
        self.packed = []

    def __dealloc__(self):
        cdef int hand, own, opponent
        for hand in range(2 * MEN_PER_SIDE + 1):
            for own in range(MEN_PER_SIDE + 1):
                for opponent in range(MEN_PER_SIDE + 1):
                    free(<void *>self.tables.packed[hand][own][opponent])
        free(self.cache.slots)

    @property
    def kept(self):
        return dict(self.values)

    @property
    def kept_depths(self):
        return dict(self.depths)

    # Nobody reads a pointer that changes, nor what it pointed to.
    cdef int point(self, const void **pointer, const void *to) except -1:
        claim(&self.users, "the set of tables")
        pointer[0] = to
        end_claim(&self.users)
        return 0

    def add(self, int own, int opponent, const uint8_t[::1] values not None, depths=None,
            int hand=0):
        cdef uint64_t places = table_places(own, opponent, hand)
        if <uint64_t>values.shape[0] < (places + 3) // 4:
            raise ValueError("a table that is too short")
        if hand == 0:
            self.add_depths(own, opponent, depths)
        with self.changing:
            self.point(<const void **>&self.tables.values[hand][own][opponent], &values[0])
            self.values[own, opponent, hand] = memoryview(values)

    def add_depths(self, int own, int opponent, depths):
        cdef const uint8_t[::1] view = depths
        cdef const uint8_t *start = NULL
        cdef uint64_t places = table_places(own, opponent, 0)
        if view is not None:
            if not is_list(view, places):
                raise ValueError("a list of depths that is cut off or not in order")
            start = &view[0]
        with self.changing:
            self.point(<const void **>&self.tables.depths[own][opponent], start)
            self.depths[own, opponent] = None if view is None else memoryview(view)

    def add_packed(self, int own, int opponent, table, int width, int hand=0):
        cdef Packed *packed
        check_counts(own, opponent, hand)
        if width != 1 and width != 2:
            raise ValueError("a place has 1 or 2 bits")
        with self.changing:
            if self.tables.packed[hand][own][opponent] != NULL or self.cache.tables == MOST_TABLES:
                raise ValueError("a table that is here already")
            if self.cache.slots == NULL:
                # The system hands out memory for what is written to.
                self.cache.slots = <Slot *>calloc(SLOTS, sizeof(Slot))
            packed = <Packed *>malloc(sizeof(Packed))
            if self.cache.slots == NULL or packed == NULL:
                free(packed)
                raise MemoryError("no memory for unpacked blocks")
            packed.cache = &self.cache
            packed.table = <void *>table
            packed.number = self.cache.tables + 1
            packed.width = width
            try:
                self.point(<const void **>&self.tables.packed[hand][own][opponent], packed)
            except RuntimeError:
                free(packed)
                raise
            self.cache.tables += 1
            self.packed.append(table)

    def remove(self, int own, int opponent, int hand):
        check_counts(own, opponent, hand)
        with self.changing:
            if self.tables.values[hand][own][opponent] == NULL:
                raise KeyError((own, opponent, hand))
            self.point(<const void **>&self.tables.values[hand][own][opponent], NULL)
            del self.values[own, opponent, hand]

    def has(self, int own, int opponent, int hand=0):
        return are_counts(own, opponent, hand) and (
            self.tables.values[hand][own][opponent] != NULL
            or self.tables.packed[hand][own][opponent] != NULL)

    def has_depths(self, int own, int opponent):
        return are_counts(own, opponent, 0) and self.tables.depths[own][opponent] != NULL

    def probe(self, tuple fields not None):
        cdef Board b = load_board(fields)
        cdef int value, depth = -1
        share(&self.users, "the set of tables")
        value = table_probe(&self.tables, &b)
        if value != UNKNOWN:
            depth = depth_of(&self.tables, &b, value)
        end_sharing(&self.users)
        if value == UNKNOWN:
            return None
        return 1 if value == WON else -(value == LOST), depth

    def bounds(self, tuple fields not None):
        cdef Board b = load_board(fields)
        cdef int least, greatest
        cdef bint known
        share(&self.users, "the set of tables")
        known = table_bounds(&self.tables, &b, &least, &greatest)
        end_sharing(&self.users)
        return (least, greatest) if known else None


def table_limit(tuple rules not None, int own, int opponent):
    cdef RuleSet rule_set = load_rules(rules)
    return plies_limit(&rule_set, own, opponent)
