# The tables of a slice: those it is solved from are read into bitmaps, and its own written.
#
# Needs placing_slice.pxi, index.pxi, probe.pxi.

cdef enum:
    AHEAD = 16               # places whose memory is asked for before they are read


# Note the value that a table has for X as what it is worth to Y.
cdef inline void note_reply(uint64_t *wins, uint64_t *holds, uint32_t index,
                            int value) noexcept nogil:
    wins[index >> WORD_BITS] |= <uint64_t>(value == LOST) << (index & 63)
    holds[index >> WORD_BITS] |= <uint64_t>(value != WON) << (index & 63)


# Read a block of a table whose blocks are those of X's classes.
cdef void read_by_x(const Slice *p, const Blocks *blocks, uint32_t cls) noexcept nogil:
    cdef uint32_t size = BINOMIAL[POINT_COUNT - blocks.men][p.others], rank
    cdef uint32_t index = (1u << p.others) - 1
    cdef uint64_t place = <uint64_t>cls * size
    cdef uint64_t *wins = bitmap_of(blocks, cls, WINS)
    cdef uint64_t *holds = bitmap_of(blocks, cls, HOLDS)
    for rank in range(size):
        note_reply(wins, holds, index, value_at(p.table, place + rank))
        index = next_mask(index)


# Read a block of a table whose blocks are those of Y's classes: a look-up for each place.
cdef void read_by_y(const Slice *p, const Blocks *blocks, uint32_t cls) noexcept nogil:
    cdef uint32_t men = MEMBER[blocks.men][cls], index = (1u << p.others) - 1
    cdef uint32_t size = BINOMIAL[POINT_COUNT - blocks.men][p.others], rank = 0, batch, i, entry
    cdef uint64_t width = BINOMIAL[POINT_COUNT - p.others][blocks.men]
    cdef uint64_t *wins = bitmap_of(blocks, cls, WINS)
    cdef uint64_t *holds = bitmap_of(blocks, cls, HOLDS)
    cdef uint32_t images[SYMMETRY_COUNT]
    cdef uint32_t indices[AHEAD]
    cdef uint64_t places[AHEAD]
    cdef int symmetry
    for symmetry in range(SYMMETRY_COUNT):
        images[symmetry] = image_of(symmetry, men)
    while rank < size:
        batch = min(<uint32_t>AHEAD, size - rank)
        for i in range(batch):
            entry = CLASS_OF[p.others][rank_of(expand(index, men), p.others)]
            indices[i] = index
            places[i] = (entry >> 4) * width + rank_of(
                compress(images[entry & 15], MEMBER[p.others][entry >> 4]), blocks.men)
            prefetch(p.table + (places[i] >> 2))
            index = next_mask(index)
        for i in range(batch):
            note_reply(wins, holds, indices[i], value_at(p.table, places[i]))
        rank += batch


# A block's values, a byte each, in the sector that is written.
cdef void write_states(const Slice *p, uint32_t cls, uint8_t *states) noexcept nogil:
    cdef const uint64_t *wins = bitmap_of(&p.solved, cls, WINS)
    cdef const uint64_t *holds = bitmap_of(&p.solved, cls, HOLDS)
    cdef uint32_t rank, index = (1u << p.others) - 1
    cdef int won, held
    for rank in range(BINOMIAL[POINT_COUNT - p.men][p.others]):
        won = (wins[index >> WORD_BITS] >> (index & 63)) & 1
        held = (holds[index >> WORD_BITS] >> (index & 63)) & 1
        states[rank] = WON * won | LOST * (1 - held)
        index = next_mask(index)


# Count a block's values, each canonical state once: at the least of the places that hold it.
cdef void tally_states(const Slice *p, uint32_t cls, const uint8_t *states,
                       uint64_t *counts) noexcept nogil:
    cdef uint32_t men = MEMBER[p.men][cls], size = BINOMIAL[POINT_COUNT - p.men][p.others]
    cdef uint32_t rank, others, won = 0, lost = 0, mask = (1u << p.others) - 1
    cdef int same[SYMMETRY_COUNT]
    cdef int symmetry, sizes = 0, i
    for symmetry in range(1, SYMMETRY_COUNT):
        if image_of(symmetry, men) == men:
            same[sizes] = symmetry
            sizes += 1
    if sizes == 0:
        for rank in range(size):
            lost += states[rank] == LOST
            won += states[rank] == WON
        counts[LOST] += lost
        counts[WON] += won
        counts[DRAWN] += size - won - lost
        return
    for rank in range(size):
        others = expand(mask, men)
        mask = next_mask(mask)
        for i in range(sizes):
            if rank_of(compress(image_of(same[i], others), men), p.others) < rank:
                break
        else:
            counts[states[rank]] += 1


# Write a few blocks of the sector's table.
cdef void write_blocks(const Slice *p, uint32_t first, uint32_t last, uint64_t *counts,
                       SliceScratch *s) noexcept nogil:
    cdef size_t size = BINOMIAL[POINT_COUNT - p.men][p.others], at = 0, end = (last - first) * size
    cdef uint8_t *packed = p.packed + ((first * size) >> 2)
    cdef uint32_t cls
    cdef int i, value
    for cls in range(first, last):
        write_states(p, cls, s.states + (cls - first) * size)
        tally_states(p, cls, s.states + (cls - first) * size, counts)
    memset(s.states + end, 0, 4)
    while at < end:
        value = 0
        for i in range(4):
            value |= s.states[at + i] << (2 * i)
        packed[at >> 2] = value
        at += 4
