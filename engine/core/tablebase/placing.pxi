# Proofs through the placing phase down to the tables: values are proven, never estimated.
#
# Three values make this a matter of yes or no: can the side to move reach at least a draw, can it
# reach a win? A transposition table keeps for each position, turned to the smallest of its 16
# images, a least and a greatest value.
#
# Needs board.pxi, movegen.pxi, ordering.pxi, index.pxi, probe.pxi.

cdef enum:
    PLACING_WAYS = 4         # entries of a bucket

cdef struct Proof:
    const Tables *tables
    RuleSet rules
    uint64_t *entries        # key 56 bits, least + 1 and greatest + 1 in two bits each
    uint64_t buckets
    uint64_t nodes
    uint64_t probes
    int *stop                # shared by all threads
    int *missing             # a table that was needed and is not here: 16 * own + opponent men


# The key of the smallest of a board's 16 images; hands go along. Both sides' views differ.
cdef inline uint64_t canonical_key(const Board *b) noexcept nogil:
    cdef uint64_t smallest = b.own | (<uint64_t>b.opponent << 24), image
    cdef int symmetry
    for symmetry in range(1, SYMMETRY_COUNT):
        image = image_of(symmetry, b.own) | (<uint64_t>image_of(symmetry, b.opponent) << 24)
        if image < smallest:
            smallest = image
    return smallest | (<uint64_t>b.own_hand << 48) | (<uint64_t>b.opponent_hand << 52)


# FORMAT.md has this way of mixing keys, for the table is kept in files.
cdef inline uint64_t *placing_bucket(const Proof *p, uint64_t key) noexcept nogil:
    cdef uint64_t mixed = (key ^ (key >> 29)) * 0x9E3779B97F4A7C15ull
    mixed ^= mixed >> 32
    return p.entries + PLACING_WAYS * ((<uint64_t><uint32_t>mixed * p.buckets) >> 32)


# What is known of a key; the whole range from -1 to 1 where nothing is.
cdef inline void recall(const Proof *p, uint64_t key, int *least, int *greatest) noexcept nogil:
    cdef const uint64_t *bucket = placing_bucket(p, key)
    cdef uint64_t entry
    cdef int i
    least[0] = -1
    greatest[0] = 1
    for i in range(PLACING_WAYS):
        entry = bucket[i]       # once: another thread may write another one there
        if entry >> 4 == key and entry:
            least[0] = <int>(entry & 3) - 1
            greatest[0] = <int>((entry >> 2) & 3) - 1
            assert -1 <= least[0] <= greatest[0] <= 1
            return


cdef inline int hands_of(uint64_t key) noexcept nogil:
    return ((key >> 48) & 15) + ((key >> 52) & 15)


# Store a range over the same key's or an empty entry, or over the one with the fewest men in hand
# unless this one has fewer still: the emptier the board, the more work an entry stands for.
cdef inline void remember(Proof *p, uint64_t key, int least, int greatest) noexcept nogil:
    cdef uint64_t *bucket = placing_bucket(p, key)
    cdef uint64_t entry = key << 4 | <uint64_t>(least + 1) | (<uint64_t>(greatest + 1) << 2)
    cdef uint64_t other
    cdef int i, hands, fewest = 100, victim = 0
    assert key >> 56 == 0 and -1 <= least <= greatest <= 1
    for i in range(PLACING_WAYS):
        other = bucket[i]
        if other == 0 or other >> 4 == key:
            bucket[i] = entry
            return
        hands = hands_of(other >> 4)
        if hands < fewest:
            fewest = hands
            victim = i
    if hands_of(key) >= fewest:
        bucket[victim] = entry


# The value of a board at which no search is needed; False where one is.
cdef inline bint settled_value(Proof *p, const Board *b, int *value) noexcept nogil:
    cdef int found
    if count(b.own) + b.own_hand < MINIMUM_MEN:
        value[0] = -1
        return True
    if not can_move(&p.rules, b):
        value[0] = 0 if p.rules.blocked_draws else -1
        return True
    if b.own_hand | b.opponent_hand:
        return False
    p.probes += 1
    found = table_probe(p.tables, b)
    if found == UNKNOWN:
        write_shared(p.missing, 16 * count(b.own) + count(b.opponent))
        write_shared(p.stop, 1)
    value[0] = 1 if found == WON else -1 if found == LOST else 0
    return True


# The score of a move: mills first, then points that stop one or prepare one. History, which orders
# the moves of a search to a depth, takes about twice the nodes here.
cdef inline int32_t placing_score(const Board *b, move_t move, uint32_t danger,
                                  uint32_t chances) noexcept nogil:
    cdef int to = to_of(move), removed = removed_of(move), line
    cdef int32_t score = 2 * count(NEIGHBOURS[to])
    if removed != NO_POINT:
        score += 1000 + 40 * mills_at(b.opponent, removed)
    for line in range(2):
        if removed != NO_POINT:
            score += 8 * count(PARTNERS[removed][line] & b.opponent)
        if not PARTNERS[to][line] & b.opponent and count(PARTNERS[to][line] & b.own) == 1:
            score += 10
    if (danger >> to) & 1:
        score += 500
    return score + 100 if (chances >> to) & 1 else score


cdef struct PlacingNode:
    ScoredMoves moves
    uint64_t keys[MAX_MOVES]


# Whether the side to move reaches at least `goal` (0 or 1).
cdef bint proves(Proof *p, const Board *b, int goal, PlacingNode *node) noexcept nogil:
    cdef uint64_t key
    cdef int value, least, greatest, i
    cdef Board after
    cdef uint32_t empty = ALL & ~(b.own | b.opponent), danger, chances
    cdef bint reached = False
    cdef ScoredMoves *moves = &node.moves
    p.nodes += 1
    if read_shared(p.stop):
        return False
    if settled_value(p, b, &value):
        return value >= goal
    assert b.own_hand + b.opponent_hand > 0 and (goal == 0 or goal == 1)
    key = canonical_key(b)
    recall(p, key, &least, &greatest)
    if least >= goal:
        return True
    if greatest < goal:
        return False
    generate(&p.rules, b, &moves.list, True, True)
    danger = threats_of(b.opponent, empty, True)
    chances = threats_of(b.own, empty, True)
    # A child whose value is known to be enough ends the search at once.
    for i in range(moves.list.size):
        make(b, moves.list.moves[i], &after)
        node.keys[i] = canonical_key(&after)
        prefetch(placing_bucket(p, node.keys[i]))
    for i in range(moves.list.size):
        make(b, moves.list.moves[i], &after)
        moves.scores[i] = placing_score(b, moves.list.moves[i], danger, chances)
        if after.own_hand | after.opponent_hand:
            recall(p, node.keys[i], &least, &greatest)
            if -greatest >= goal:
                reached = True
                break
            if -least < goal:
                moves.scores[i] = -1
        elif settled_value(p, &after, &value):
            if -value >= goal:
                reached = True
                break
            moves.scores[i] = -1
    moves.next = 0
    while not reached and moves.next < moves.list.size:
        choose(moves)
        if moves.scores[moves.next] < 0:
            break
        make(b, moves.list.moves[moves.next], &after)
        moves.next += 1
        # This side reaches the goal where the other cannot reach what would prevent it.
        reached = not proves(p, &after, 1 - goal, node + 1)
    if read_shared(p.stop):
        return False
    recall(p, key, &least, &greatest)
    if reached:
        least = max(least, goal)
    else:
        greatest = min(greatest, goal - 1)
    remember(p, key, least, greatest)
    return reached


cdef class PlacingProver:
    cdef Proof prover
    cdef TableSet tables
    cdef int stop_flag
    cdef int missing_table
    cdef readonly uint64_t nodes
    cdef readonly uint64_t probes

    def __cinit__(self, tuple rules, TableSet tables, int megabytes=256):
        cdef uint64_t size = <uint64_t>megabytes << 20
        if megabytes < 1:
            raise ValueError("a prover needs at least 1 MiB")
        self.tables = tables
        self.prover.tables = &tables.tables
        self.prover.stop = &self.stop_flag
        self.prover.missing = &self.missing_table
        self.prover.rules = load_rules(rules)
        self.prover.buckets = size // (PLACING_WAYS * sizeof(uint64_t))
        self.prover.entries = <uint64_t *>calloc(
            self.prover.buckets * PLACING_WAYS, sizeof(uint64_t))
        if self.prover.entries == NULL:
            raise MemoryError(f"no memory for a table of {megabytes} MiB")
        spare_translations(self.prover.entries, size)

    def __dealloc__(self):
        free(self.prover.entries)

    def reaches(self, tuple fields, int goal):
        cdef Board b = load_board(fields)
        cdef Proof here = self.prover
        cdef PlacingNode *stack
        cdef bint reached
        here.nodes = here.probes = 0
        stack = <PlacingNode *>malloc(24 * sizeof(PlacingNode))
        if stack == NULL:
            raise MemoryError("no memory for a search")
        with nogil:
            reached = proves(&here, &b, goal, stack)
            free(stack)
        self.nodes += here.nodes
        self.probes += here.probes
        return None if read_shared(&self.stop_flag) else reached

    def found(self):
        cdef size_t size = self.prover.buckets * PLACING_WAYS * sizeof(uint64_t)
        cdef uint8_t[::1] memory = <uint8_t[:size]><uint8_t *>self.prover.entries
        return memoryview(memory)

    def stop(self):
        write_shared(&self.stop_flag, 1)

    @property
    def missing(self):
        if not self.missing_table:
            return None
        return self.missing_table >> 4, self.missing_table & 15
