# Structures of the core that the solver and the trainer use through pointers in capsules.
#
# Needs bitboard.pxi, board.pxi, tablebase/probe.pxi.

cdef enum:
    BUCKET = 4               # entries
    # First bits of the fields of an entry's data; the move begins at bit 0.
    SCORE_BIT = 20
    DEPTH_BIT = 36
    BOUND_BIT = 44
    GENERATION_BIT = 46
    UNUSED_BIT = 54

# An entry of the transposition table.
cdef struct Entry:
    uint64_t check           # key ^ data
    uint64_t data            # move, score, depth, bound and generation; 0: the entry is empty

cdef struct Table:
    void *memory
    Entry *entries
    uint64_t buckets         # in use
    int generation

# A search worker that the trainer uses for single boards.
cdef struct BoardSearch:
    void *worker
    int *users               # of the worker, see platform.pxi
    # Prepare the worker for boards under these rules.
    void (*begin)(void *worker, const RuleSet *rules) noexcept nogil
    # Deepen until an iteration reaches `nodes` nodes or proves a win or loss. Return the value;
    # unless `leaf` is NULL, set it to the last board of the principal variation.
    int (*search)(void *worker, const Board *b, uint64_t nodes, Board *leaf) noexcept nogil


# The index of a key's bucket in a table of `buckets` buckets.
cdef inline uint64_t bucket_number(uint64_t key, uint64_t buckets) noexcept nogil:
    return below(key * GOLDEN, buckets)


# Sizes of the shared structures in bytes, which must be equal in all extensions.
cdef tuple shared_layout():
    return (sizeof(RuleSet), sizeof(Board), sizeof(Table), sizeof(Entry), sizeof(BoardSearch),
            sizeof(Tables), sizeof(Packed), sizeof(BlockCache), sizeof(Slot))
