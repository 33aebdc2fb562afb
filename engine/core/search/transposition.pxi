# The transposition table: buckets of four entries, one cache line each, shared by all threads.
#
# An entry has the complete key, so an intact entry belongs to one position. Threads write without a
# lock: the key is stored XORed with the data, so that a torn entry, half written by each of two
# threads, has a wrong key. This is lockless hashing (Hyatt and Mann, "A lock-less transposition
# table implementation for parallel search", ICGA Journal 25, 2002). In rare cases the wrong key
# equals the probed key. An entry is therefore dropped if its score, depth, bound or move is
# impossible for the position.
#
# The first access to each page of memory slows a search, so the searcher chooses how much of the
# table is in use. The other pages stay untouched.
#
# Needs platform.pxi, bitboard.pxi, board.pxi, movegen.pxi, shared.pxi.

cdef enum:
    UPPER = 1                # the value is at most the score
    LOWER = 2                # the value is at least the score
    EXACT = 3

cdef struct Probe:
    move_t move
    int score
    int depth
    int bound                # 0: no entry, and the move is NO_MOVE


# The depth in an entry's data.
cdef inline int depth_in(uint64_t data) noexcept nogil:
    return (data >> DEPTH_BIT) & 0xFF


# The generation in an entry's data: the number of the search that stored it, modulo 256.
cdef inline int generation_in(uint64_t data) noexcept nogil:
    return (data >> GENERATION_BIT) & 0xFF


# The bucket of a key. `bucket_number` multiplies the key, and the upper half of the product depends
# on the whole board; further mixing would not spread real positions more evenly.
cdef inline Entry *bucket_of(const Table *table, uint64_t key) noexcept nogil:
    return &table.entries[BUCKET * bucket_number(key, table.buckets)]


# Prefetch a key's bucket, so that memory latency overlaps with other work.
cdef inline void prefetch_bucket(const Table *table, uint64_t key) noexcept nogil:
    prefetch(bucket_of(table, key))


# Whether an entry's data is possible for a board; the stored move may be any number.
cdef inline bint is_sound_entry(const RuleSet *rules, const Board *b, uint64_t data,
                                const Probe *result) noexcept nogil:
    return data >> UNUSED_BIT == 0 and result.bound != 0 and result.depth <= MAX_DEPTH and (
        -WIN <= result.score <= WIN) and (
        result.move == NO_MOVE or is_legal(rules, b, result.move))


cdef inline void probe(const Table *table, const RuleSet *rules, const Board *b, uint64_t key,
                       Probe *result) noexcept nogil:
    cdef Entry *entry = bucket_of(table, key)
    cdef uint64_t data
    cdef int i
    for i in range(BUCKET):
        data = entry[i].data
        if (entry[i].check ^ data) == key and data:
            result.move = data & NO_MOVE  # NO_MOVE, whose bits are all set, is also the mask.
            result.score = <int16_t>((data >> SCORE_BIT) & 0xFFFF)
            result.depth = depth_in(data)
            result.bound = (data >> BOUND_BIT) & 3
            if likely(is_sound_entry(rules, b, data, result)):
                return
            entry[i].data = 0
            break
    result.move = NO_MOVE
    result.bound = 0


# Store a result in place of the position's own entry, an empty entry, or the entry of least worth
# in the bucket. The worth of an entry is its depth, less eight for each search started after it
# was stored. A bound does not replace a deeper entry that the same search has stored for the
# position.
cdef inline void store(Table *table, uint64_t key, move_t move, int score, int depth,
                       int bound) noexcept nogil:
    cdef Entry *entry = bucket_of(table, key)
    cdef Entry *victim = entry
    cdef uint64_t data
    cdef int i, worth, least = 1 << 30
    assert move == NO_MOVE or to_of(move) < POINT_COUNT
    assert -WIN <= score <= WIN and 0 <= depth < 256 and UPPER <= bound <= EXACT
    for i in range(BUCKET):
        data = entry[i].data
        if data == 0:
            victim = &entry[i]
            break
        if (entry[i].check ^ data) == key:
            victim = &entry[i]
            if move == NO_MOVE:
                move = data & NO_MOVE
            if bound != EXACT and depth < depth_in(data) and (
                    generation_in(data) == table.generation):
                return
            break
        worth = depth_in(data) - 8 * ((table.generation - generation_in(data)) & 0xFF)
        if worth < least:
            least = worth
            victim = &entry[i]
    data = <uint64_t>move | (<uint64_t>(score & 0xFFFF) << SCORE_BIT) | (
        <uint64_t>depth << DEPTH_BIT) | (<uint64_t>bound << BOUND_BIT) | (
        <uint64_t>table.generation << GENERATION_BIT)
    victim.check = key ^ data
    victim.data = data


cdef class TranspositionTable:
    cdef Table table
    cdef uint64_t size       # bytes

    def __cinit__(self, int megabytes, int megabytes_in_use=0):
        cdef uint64_t size = <uint64_t>megabytes << 20
        if megabytes < 1:
            raise ValueError(f"expected at least 1 MiB for the table, found {megabytes}")
        if size + PAGE > <size_t>-1:
            raise MemoryError(f"no memory for a table of {megabytes} MiB")
        # `calloc` returns pages filled with zeros, which cost no time until they are touched.
        self.table.memory = calloc(size + PAGE, 1)
        if self.table.memory == NULL:
            raise MemoryError(f"no memory for a table of {megabytes} MiB")
        self.table.entries = <Entry *>((<size_t>self.table.memory + PAGE - 1) & ~<size_t>(PAGE - 1))
        self.size = size
        large_pages(self.table.entries, size)
        self.table.buckets = self.buckets_of(megabytes_in_use)
        self.table.generation = 0

    def __dealloc__(self):
        free(self.table.memory)

    @property
    def shared(self):
        return PyCapsule_New(&self.table, "merels.Table", NULL)

    # The number of buckets in `megabytes` MiB; 0: in the whole table.
    cdef uint64_t buckets_of(self, int megabytes):
        cdef uint64_t size = <uint64_t>megabytes << 20
        if megabytes <= 0 or size > self.size:
            size = self.size
        return size // (BUCKET * sizeof(Entry))

    def megabytes_in_use(self):
        return self.table.buckets * BUCKET * sizeof(Entry) >> 20

    def clear(self, int megabytes_in_use=0):
        with nogil:
            memset(self.table.entries, 0, <size_t>self.table.buckets * BUCKET * sizeof(Entry))
        self.table.buckets = self.buckets_of(megabytes_in_use)
        self.table.generation = 0

    def new_search(self):
        self.table.generation = (self.table.generation + 1) & 0xFF

    def full(self):
        cdef int i, current = 0
        cdef const Entry *entries = self.table.entries
        for i in range(1000):
            current += entries[i].data != 0 and (
                generation_in(entries[i].data) == self.table.generation)
        # The entries are in the part in use; the rest of the table is empty.
        return current * self.table.buckets // self.buckets_of(0)
