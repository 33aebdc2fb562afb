# Writing the lists of depths that tablebase/depths.pxi reads.
#
# Needs bitboard.pxi, tablebase/depths.pxi.

cdef inline void write_four(uint8_t *at, uint32_t number) noexcept nogil:
    cdef int i
    for i in range(4):
        at[i] = (number >> (8 * i)) & 0xFF


# How many losses of a table have a depth in `depths`, a byte for each place.
cdef uint64_t count_listed(const uint8_t *depths, uint64_t places) noexcept nogil:
    cdef uint64_t place, total = 0
    for place in range(places):
        total += depths[place] != 0
    return total


# A list of the losses of a table that have a depth in `depths`.
cdef void write_list(const uint8_t *depths, uint64_t places, uint8_t *list,
                     uint64_t total) noexcept nogil:
    cdef uint8_t *offsets = list + 4 * index_size(places)
    cdef uint64_t place, size = 0
    for place in range(places):
        if place % LIST_BLOCK == 0:
            write_four(list + 4 * (place // LIST_BLOCK), size)
        if unlikely(depths[place]):
            offsets[2 * size] = place & 0xFF
            offsets[2 * size + 1] = (place >> 8) & 0xFF
            offsets[2 * total + size] = depths[place]
            size += 1
    write_four(offsets - 4, size)
