# Output of solved tables: packed values, counts of states by value, and lists of depths.
#
# Needs platform.pxi, bitboard.pxi, index.pxi, probe.pxi, depths.pxi.


# Memory for two bits for each place. Readers may load up to 64 bytes past the end.
cdef bytearray packed_memory(uint64_t places):
    try:
        return bytearray((places + 3) // 4 + 64)
    except MemoryError:
        raise MemoryError("no memory for a packed table") from None


cdef enum:
    OTHER_MEMORY = 1 << 24   # bytes added to estimates of memory for all that they leave out


# Pack values of a byte each into two bits each. Up to three bytes after the last value are read;
# they must be 0.
cdef void pack_values(const uint8_t *values, uint64_t number, uint8_t *packed) noexcept nogil:
    cdef uint64_t place
    cdef int value, i
    for place in range(0, number, 4):
        value = 0
        for i in range(4):
            value |= values[place + i] << (2 * i)
        packed[place >> 2] = value


# Add to `counts` the values of a class's block (see index.pxi). A state that has several places is
# counted only at its lowest place. `men` is the class's mask; the other side has `others` men.
cdef void tally_values(const uint8_t *values, uint32_t men, int others,
                       uint64_t *counts) noexcept nogil:
    cdef uint32_t size = BINOMIAL[POINT_COUNT - count(men)][others]
    cdef uint32_t rank, other_men, won = 0, lost = 0, mask = (1u << others) - 1
    cdef int stabilizer[SYMMETRY_COUNT]  # symmetries that map `men` to themselves
    cdef int symmetry, stabilizer_size = 0, i
    for symmetry in range(1, SYMMETRY_COUNT):
        if image_of(symmetry, men) == men:
            stabilizer[stabilizer_size] = symmetry
            stabilizer_size += 1
    if stabilizer_size == 0:
        for rank in range(size):
            lost += values[rank] == LOST
            won += values[rank] == WON
        counts[LOST] += lost
        counts[WON] += won
        counts[DRAWN] += size - won - lost
        return
    for rank in range(size):
        other_men = expand(mask, men)
        mask = next_mask(mask)
        for i in range(stabilizer_size):
            if rank_of(compress(image_of(stabilizer[i], other_men), men), others) < rank:
                break
        else:
            counts[values[rank]] += 1


# The number of listed losses: `depths` has a byte for each place, 0 if the place is not listed.
cdef uint64_t count_listed(const uint8_t *depths, uint64_t places) noexcept nogil:
    cdef uint64_t place, total = 0
    for place in range(places):
        total += depths[place] != 0
    return total


# Write the list of the losses with a depth in `depths`; engine/tablebase/FORMAT.md has the format.
cdef void write_list(const uint8_t *depths, uint64_t places, uint8_t *list,
                     uint64_t total) noexcept nogil:
    cdef uint8_t *offsets = list + 4 * index_size(places)
    cdef uint64_t place, size = 0
    for place in range(places):
        if place % LIST_BLOCK == 0:
            write_bytes(list + 4 * (place // LIST_BLOCK), 4, size)
        if unlikely(depths[place]):
            write_bytes(offsets + 2 * size, 2, place % LIST_BLOCK)
            offsets[2 * total + size] = depths[place]
            size += 1
    write_bytes(offsets - 4, 4, size)
