# Reading tables into the bitmaps of a slice, and writing the tables of the slice.
#
# Needs packing.pxi, placing_slice.pxi, index.pxi, probe.pxi.

cdef enum:
    PREFETCHED = 16          # places that are prefetched together


# Set the bits of Y's value from the table's `value`, which is X's.
cdef inline void note_reply(uint64_t *wins, uint64_t *holds, uint32_t index,
                            int value) noexcept nogil:
    wins[index >> WORD_BITS] |= <uint64_t>(value == LOST) << (index & 63)
    holds[index >> WORD_BITS] |= <uint64_t>(value != WON) << (index & 63)


# Read a block from a table whose blocks are classes of X's men.
cdef void read_by_x(const Slice *p, const Blocks *blocks, uint32_t cls) noexcept nogil:
    cdef uint32_t size = BINOMIAL[POINT_COUNT - blocks.men][p.others], rank
    cdef uint32_t index = (1u << p.others) - 1
    cdef uint64_t place = <uint64_t>cls * size
    cdef uint64_t *wins = bitmap_of(blocks, cls, WINS)
    cdef uint64_t *holds = bitmap_of(blocks, cls, HOLDS)
    for rank in range(size):
        note_reply(wins, holds, index, value_at(p.table, place + rank))
        index = next_mask(index)


# Read a block from a table whose blocks are classes of Y's men: each place needs a look-up.
cdef void read_by_y(const Slice *p, const Blocks *blocks, uint32_t cls) noexcept nogil:
    cdef uint32_t men = MEMBER[blocks.men][cls], index = (1u << p.others) - 1
    cdef uint32_t size = BINOMIAL[POINT_COUNT - blocks.men][p.others], rank = 0, batch, i, entry
    cdef uint64_t width = BINOMIAL[POINT_COUNT - p.others][blocks.men]
    cdef uint64_t *wins = bitmap_of(blocks, cls, WINS)
    cdef uint64_t *holds = bitmap_of(blocks, cls, HOLDS)
    cdef uint32_t images[SYMMETRY_COUNT]
    cdef uint32_t indices[PREFETCHED]
    cdef uint64_t places[PREFETCHED]
    cdef int symmetry
    for symmetry in range(SYMMETRY_COUNT):
        images[symmetry] = image_of(symmetry, men)
    while rank < size:
        batch = min(<uint32_t>PREFETCHED, size - rank)
        for i in range(batch):
            entry = CLASS_OF[p.others][rank_of(expand(index, men), p.others)]
            indices[i] = index
            places[i] = class_in(entry) * width + rank_of(
                compress(images[symmetry_in(entry)], MEMBER[p.others][class_in(entry)]), blocks.men)
            prefetch(p.table + (places[i] >> 2))
            index = next_mask(index)
        for i in range(batch):
            note_reply(wins, holds, indices[i], value_at(p.table, places[i]))
        rank += batch


# Write a block's values, a byte each.
cdef void write_values(const Slice *p, uint32_t cls, uint8_t *values) noexcept nogil:
    cdef const uint64_t *wins = bitmap_of(&p.solved, cls, WINS)
    cdef const uint64_t *holds = bitmap_of(&p.solved, cls, HOLDS)
    cdef uint32_t rank, index = (1u << p.others) - 1
    cdef int won, held
    for rank in range(BINOMIAL[POINT_COUNT - p.men][p.others]):
        won = (wins[index >> WORD_BITS] >> (index & 63)) & 1
        held = (holds[index >> WORD_BITS] >> (index & 63)) & 1
        values[rank] = WON * won | LOST * (1 - held)
        index = next_mask(index)


# Pack the values of blocks `first` to `last` - 1 of the sector's table, and count them.
cdef void write_blocks(const Slice *p, uint32_t first, uint32_t last, uint64_t *counts,
                       SliceScratch *s) noexcept nogil:
    cdef size_t size = BINOMIAL[POINT_COUNT - p.men][p.others], end = (last - first) * size
    cdef uint8_t *values
    cdef uint32_t cls
    for cls in range(first, last):
        values = s.states + (cls - first) * size
        write_values(p, cls, values)
        tally_values(values, MEMBER[p.men][cls], p.others, counts)
    memset(s.states + end, 0, 4)
    pack_values(s.states, end, p.packed + ((first * size) >> 2))
