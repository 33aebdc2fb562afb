# The open tables of a rule set for Python: a board's place, its value, and the values of its moves.
#
# Needs platform.pxi, deadline.pxi, board.pxi, ends.pxi, movegen.pxi, index.pxi, blocks.pxi,
# probe.pxi, depths.pxi, move_values.pxi.

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

    def moves(self, tuple rules not None, tuple fields not None, history,
              Deadline deadline=None, int64_t not_before=0):
        cdef Board b = load_board(fields)
        cdef MoveList legal
        cdef int64_t *end = NULL if deadline is None else &deadline.at
        cdef int i, number
        cdef Game *game = <Game *>malloc(sizeof(Game))
        cdef MoveValue *values = NULL
        cdef list rows = []
        try:
            if game == NULL:
                raise MemoryError("no memory for the values of moves")
            load_game(game, rules, history)
            generate(&game.rules, &b, &legal, True, True)
            values = <MoveValue *>malloc((legal.size + 1) * sizeof(MoveValue))
            if values == NULL:
                raise MemoryError("no memory for the values of moves")
            share(&self.tables.users, "the set of tables")
            with nogil:  # A table on a slow disk must not stop other threads.
                number = value_moves(&self.tables, game, &b, &legal, values, end, not_before)
            end_sharing(&self.tables.users)
            for i in range(number):
                if values[i].value == UNKNOWN:
                    rows.append((legal.moves[i], None, None, -1, 1, False, False))
                else:
                    rows.append((
                        legal.moves[i], values[i].value,
                        None if values[i].depth < 0 else values[i].depth,
                        values[i].least, values[i].greatest, values[i].nearly_drawn,
                        values[i].repeats,
                    ))
            return rows
        finally:
            free(values)
            free(game)

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
