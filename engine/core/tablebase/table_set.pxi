# The open tables of a rule set for Python: a board's place, value and depth, and the bounds of its
# value after plies without a removal.
#
# Needs platform.pxi, board.pxi, index.pxi, blocks.pxi, probe.pxi, depths.pxi.

# The depth of a board with this value (255: 255 or more); -1 for a draw, or if no list of depths
# fits its table.
cdef int depth_of(const Tables *tables, const Board *b, int value) noexcept nogil:
    cdef int most, depth, own = count(b.own), opponent = count(b.opponent)
    cdef int least_listed = least_listed_depth(&tables.rules, own, opponent)
    if value == DRAWN or b.own_hand | b.opponent_hand or tables.depths[own][opponent] == NULL:
        return -1
    # Iterative deepening, because most conversions are near.
    for most in range(1, least_listed + 1):
        if value == LOST:
            depth = depth_of_loss(tables, b, most)
        else:
            depth = depth_of_win(tables, b, most)
        if depth <= most or (value == LOST and depth >= least_listed):
            return depth
    if value == LOST:
        return -1            # The list does not belong to the values.
    return min(MAX_STORED, depth_of_win(tables, b, MAX_STORED))


# Set the least and the greatest value (-1, 0, 1) that a board may have, given its plies without a
# removal; return False if it is in no table. A win is certain if its depth is at most the plies
# left to the limit. A win of unknown depth may be a draw, but never a loss. With men in hand there
# is no limit.
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


def table_classes(int men):
    check_counts(men, 0, 0)
    return CLASSES[men]


def table_places(int own, int opponent, int hand=0):
    return count_places(own, opponent, hand)


def table_place(uint32_t own, uint32_t opponent, int hand=0):
    cdef uint32_t rank, cls
    if (own | opponent) >> POINT_COUNT or own & opponent:
        raise ValueError(f"impossible board: {own, opponent}")
    check_counts(count(own), count(opponent), hand)
    cls = locate_sides(own, count(own), opponent, count(opponent), hand, &rank)
    return cls, rank


def table_board(int own, int opponent, uint32_t cls, uint32_t rank, int hand=0):
    cdef uint32_t own_men, opponent_men
    check_counts(own, opponent, hand)
    if cls >= classes_of(own, opponent, hand) or rank >= block_size(own, opponent, hand):
        raise ValueError(f"no class {cls} with rank {rank} in this table")
    men_at(own, opponent, hand, cls, rank, &own_men, &opponent_men)
    return own_men, opponent_men


# Whether the index of a list of depths is in order and matches the list's length.
cdef bint is_depth_list(const uint8_t *list, uint64_t length, uint64_t places) noexcept nogil:
    cdef uint64_t size = index_size(places), i
    if length < 4 * size or read_bytes(list, 4):
        return False
    for i in range(1, size):
        if read_bytes(list + 4 * i, 4) < read_bytes(list + 4 * i - 4, 4):
            return False
    return length == 4 * size + 3 * <uint64_t>read_bytes(list + 4 * size - 4, 4)


# The checked memory of a view of a list of depths.
cdef _Span depths_of(view, uint64_t places):
    cdef _Span span = span_of(view)
    if not is_depth_list(span.start, span.size, places):
        raise ValueError("the list of depths is truncated or not in order")
    return span


cdef class TableSet:
    cdef Tables tables
    cdef BlockCache cache
    cdef object change_lock
    cdef dict values         # keeps alive the memory to which the tables point
    cdef dict depths
    cdef list packed

    def __cinit__(self, tuple rules not None):
        load_index()
        self.tables.rules = load_rules(rules)
        self.change_lock = allocate_lock()
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
    def shared(self):
        return PyCapsule_New(&self.tables, "merels.Tables", NULL)

    @property
    def open_values(self):
        return dict(self.values)

    @property
    def open_depths(self):
        return dict(self.depths)

    # Change a pointer while no thread reads the tables, so that its old target may be freed.
    cdef int set_pointer(self, const void **pointer, const void *to) except -1:
        claim(&self.tables.users, "the set of tables")
        pointer[0] = to
        end_claim(&self.tables.users)
        return 0

    def add(self, int own, int opponent, values, depths=None, int hand=0):
        cdef uint64_t places = count_places(own, opponent, hand)
        # Check the view that is stored: another view of the object may differ.
        cdef object view = memoryview(values), depth_view = None, replaced
        cdef _Span span = span_of(view), depth_span = None
        if <uint64_t>span.size < (places + 3) // 4:
            raise ValueError(f"expected {(places + 3) // 4} bytes of values, found {span.size}")
        if hand == 0 and depths is not None:
            depth_view = memoryview(depths)
            depth_span = depths_of(depth_view, places)
        with self.change_lock:
            # One claim for both, so that no thread reads old values with new depths.
            claim(&self.tables.users, "the set of tables")
            self.tables.values[hand][own][opponent] = span.start
            if hand == 0:
                self.tables.depths[own][opponent] = NULL if depth_span is None else depth_span.start
            end_claim(&self.tables.users)
            # Free nothing before both are replaced.
            replaced = self.values.get((own, opponent, hand)), self.depths.get((own, opponent))
            self.values[own, opponent, hand] = view
            if hand == 0:
                self.depths[own, opponent] = depth_view

    def add_depths(self, int own, int opponent, depths):
        cdef object view = None
        cdef _Span span = None
        cdef uint64_t places = count_places(own, opponent, 0)
        if depths is not None:
            view = memoryview(depths)
            span = depths_of(view, places)
        with self.change_lock:
            self.set_pointer(<const void **>&self.tables.depths[own][opponent],
                             NULL if span is None else span.start)
            self.depths[own, opponent] = view

    def add_packed(self, int own, int opponent, table, int hand=0):
        cdef Packed *packed
        check_counts(own, opponent, hand)
        with self.change_lock:
            if self.tables.packed[hand][own][opponent] != NULL:
                raise ValueError("this packed table has been added already")
            if self.cache.tables == MAX_TABLES:
                raise ValueError(f"expected at most {MAX_TABLES} packed tables")
            if self.cache.slots == NULL:
                # The system allocates pages only when they are written to.
                self.cache.slots = <Slot *>calloc(SLOTS, sizeof(Slot))
            packed = <Packed *>malloc(sizeof(Packed))
            if self.cache.slots == NULL or packed == NULL:
                free(packed)
                raise MemoryError("no memory for unpacked blocks")
            packed.cache = &self.cache
            packed.table = <void *>table
            packed.number = self.cache.tables + 1
            try:
                self.set_pointer(<const void **>&self.tables.packed[hand][own][opponent], packed)
            except RuntimeError:
                free(packed)
                raise
            self.cache.tables += 1
            self.packed.append(table)

    def remove(self, int own, int opponent, int hand):
        check_counts(own, opponent, hand)
        with self.change_lock:
            if self.tables.values[hand][own][opponent] == NULL:
                raise KeyError((own, opponent, hand))
            self.set_pointer(<const void **>&self.tables.values[hand][own][opponent], NULL)
            del self.values[own, opponent, hand]

    def has(self, int own, int opponent, int hand=0):
        return are_counts(own, opponent, hand) and has_table(&self.tables, own, opponent, hand)

    def has_depths(self, int own, int opponent):
        return are_counts(own, opponent, 0) and self.tables.depths[own][opponent] != NULL

    def probe(self, tuple fields not None):
        cdef Board b = load_board(fields)
        cdef int value, depth = -1
        share(&self.tables.users, "the set of tables")
        value = table_probe(&self.tables, &b)
        if value != UNKNOWN:
            depth = depth_of(&self.tables, &b, value)
        end_sharing(&self.tables.users)
        if value == UNKNOWN:
            return None
        return 1 if value == WON else -(value == LOST), depth

    def bounds(self, tuple fields not None):
        cdef Board b = load_board(fields)
        cdef int least, greatest
        cdef bint known
        share(&self.tables.users, "the set of tables")
        known = table_bounds(&self.tables, &b, &least, &greatest)
        end_sharing(&self.tables.users)
        return (least, greatest) if known else None


def table_limit(tuple rules not None, int own, int opponent):
    cdef RuleSet rule_set = load_rules(rules)
    return plies_limit(&rule_set, own, opponent)
