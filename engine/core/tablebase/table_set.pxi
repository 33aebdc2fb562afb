# The open tables of a rule set for Python: a board's place, its value, and the values of its moves.
#
# Needs platform.pxi, deadline.pxi, board.pxi, ends.pxi, movegen.pxi, index.pxi, blocks.pxi,
# probe.pxi, depths.pxi, move_values.pxi.

def table_places(int own, int opponent, int hand=0):
    return count_places(own, opponent, hand)


def table_board(int own, int opponent, uint64_t place, int hand=0):
    cdef uint32_t own_men, opponent_men, size
    if place >= count_places(own, opponent, hand):
        raise ValueError(f"no place {place} in this table")
    size = block_size(own, opponent, hand)
    men_at(own, opponent, hand, place // size, place % size, &own_men, &opponent_men)
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


# An open table. The set's structures point into it, so it does not move.
@internal
@final
cdef class _OpenTable:
    cdef int own, opponent, hand
    cdef object source       # unpacks blocks; None: the values are unpacked
    cdef Packed packed
    cdef _Span values
    cdef _Span depths


# A checked table, from an item of the argument of `TableSet.add`.
cdef _OpenTable checked_table(int own, int opponent, int hand, values, depths):
    cdef uint64_t places = count_places(own, opponent, hand)
    cdef _OpenTable table = _OpenTable.__new__(_OpenTable)
    table.own = own
    table.opponent = opponent
    table.hand = hand
    if hasattr(values, "block"):
        table.source = values
    else:
        table.values = span_of(values)
        if <uint64_t>table.values.size < (places + 3) // 4:
            raise ValueError(
                f"expected {(places + 3) // 4} bytes of values, found {table.values.size}")
    if depths is not None:
        table.depths = span_of(depths)
        if hand or not is_depth_list(table.depths.start, table.depths.size, places):
            raise ValueError("the list of depths is truncated or not in order")
    return table


# Reduce a list of legal moves to those among `wanted`.
cdef int keep_moves(MoveList *legal, wanted) except -1:
    cdef MoveList kept
    cdef move_t move
    kept.size = 0
    for move in wanted:
        if kept.size == legal.size or not contains(legal, move):
            raise ValueError(f"illegal root move, or more root moves than legal ones: {move}")
        kept.moves[kept.size] = move
        kept.size += 1
    legal[0] = kept
    return 0


# The row of a move for Python.
cdef tuple row_of(const MoveValue *row):
    if row.value == UNKNOWN:
        return row.move, None, None, False, False, False, row.rank
    return (row.move, row.value, None if row.depth < 0 else row.depth, row.certain,
            row.nearly_drawn, row.repeats, row.rank)


cdef class TableSet:
    cdef Tables tables
    cdef BlockCache cache
    cdef object change_lock
    cdef dict open_tables    # by numbers of men; keeps alive what the set's structures point to

    def __cinit__(self, tuple rules not None):
        self.tables.rules = load_rules(rules)
        self.change_lock = allocate_lock()
        self.open_tables = {}

    def __dealloc__(self):
        free(self.cache.slots)

    @property
    def shared(self):
        return PyCapsule_New(&self.tables, "merels.Tables", NULL)

    # Give each packed table in a list its number in the cache of blocks; allocate the cache.
    cdef int load_cache(self, list tables) except -1:
        cdef _OpenTable table
        for table in tables:
            if table.source is None:
                continue
            if self.cache.tables == MAX_TABLES:
                raise ValueError(f"expected at most {MAX_TABLES} packed tables")
            if self.cache.slots == NULL:
                # The system allocates pages only when they are written to.
                self.cache.slots = <Slot *>calloc(SLOTS, sizeof(Slot))
            if self.cache.slots == NULL:
                raise MemoryError("no memory for the cache of the tables")
            self.cache.tables += 1
            table.packed.cache = &self.cache
            table.packed.table = <void *>table.source
            table.packed.number = self.cache.tables
        return 0

    # Set the set's pointers to a table, or to NULL.
    cdef void point_to(self, _OpenTable table, bint is_open) noexcept:
        cdef int own = table.own, opponent = table.opponent, hand = table.hand
        self.tables.values[hand][own][opponent] = (
            table.values.start if is_open and table.values is not None else NULL)
        self.tables.packed[hand][own][opponent] = (
            &table.packed if is_open and table.source is not None else NULL)
        if hand == 0:
            self.tables.depths[own][opponent] = (
                table.depths.start if is_open and table.depths is not None else NULL)

    def add(self, tables):
        cdef list checked = [
            checked_table(own, opponent, hand, values, depths)
            for own, opponent, hand, values, depths in tables
        ]
        cdef list keys, replaced
        cdef _OpenTable table
        with self.change_lock:
            self.load_cache(checked)
            # One claim for all, so that no thread reads old values with new depths.
            claim(&self.tables.users, "the set of tables")
            for table in checked:
                self.point_to(table, True)
            end_claim(&self.tables.users)
            # Free the replaced tables only now.
            keys = [(table.own, table.opponent, table.hand) for table in checked]
            replaced = [self.open_tables.get(key) for key in keys]
            self.open_tables.update(zip(keys, checked))

    def remove(self, int own, int opponent, int hand):
        cdef _OpenTable table
        with self.change_lock:
            table = self.open_tables[own, opponent, hand]
            claim(&self.tables.users, "the set of tables")
            self.point_to(table, False)
            end_claim(&self.tables.users)
            del self.open_tables[own, opponent, hand]

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

    def moves(self, tuple rules not None, tuple fields not None, history, root_moves=None, *,
              Deadline deadline=None, int64_t not_before=0, bint equal_wins=False):
        cdef Board b = load_board(fields)
        cdef int64_t *end = NULL if deadline is None else &deadline.at
        cdef int i, number
        cdef Game *game = <Game *>malloc(sizeof(Game))
        cdef MoveList *moves = <MoveList *>malloc(sizeof(MoveList))
        cdef MoveValue *values = <MoveValue *>malloc(MAX_MOVES * sizeof(MoveValue))
        try:
            if game == NULL or moves == NULL or values == NULL:
                raise MemoryError("no memory for the values of moves")
            load_game(game, rules, history)
            generate_all(&game.rules, &b, moves)
            if root_moves is not None:
                keep_moves(moves, root_moves)
            share(&self.tables.users, "the set of tables")
            with nogil:  # A table on a slow disk must not stop other threads.
                number = value_moves(&self.tables, game, &b, moves, values, end, not_before)
                rank_values(values, number, equal_wins)
            end_sharing(&self.tables.users)
            return [row_of(&values[i]) for i in range(number)]
        finally:
            free(game)
            free(moves)
            free(values)

    def bounds(self, tuple fields not None):
        cdef Board b = load_board(fields)
        cdef int least, greatest
        cdef bint has_bounds
        share(&self.tables.users, "the set of tables")
        has_bounds = table_bounds(&self.tables, &b, &least, &greatest)
        end_sharing(&self.tables.users)
        return (least, greatest) if has_bounds else None


def table_limit(tuple rules not None, int own, int opponent):
    cdef RuleSet rule_set = load_rules(rules)
    return plies_limit(&rule_set, own, opponent)
