# Packed tables: read through a cache of unpacked blocks, which any number of threads share without
# a lock.
#
# The stamp of a slot names the block in it. Whoever replaces a block clears the stamp first and
# sets another one last; a reader that finds the same stamp before and after it has read a byte has
# read it from that block. This is a sequence lock (Boehm, "Can seqlocks get along with programming
# language memory models?", MSPC 2012). There is one writer at a time: `filling` sees to it where
# there is no interpreter's lock to do so.
#
# Needs platform.pxi, bitboard.pxi; UNKNOWN is of probe.pxi.

from cpython.exc cimport PyErr_SetInterrupt

cpdef enum:
    BLOCK_BYTES = 1 << 13    # of an unpacked block; the last one of a table may be shorter

cdef enum:
    PLACES_IN_BLOCK = 4 * BLOCK_BYTES
    SLOTS = 1 << 13          # 64 MiB
    MOST_BLOCKS = 1 << 16    # of one table: 4 times what the largest one has
    MOST_TABLES = 0xFFFF

cdef struct Slot:
    uint64_t stamp           # number of its filling << 32 | table << 16 | block; 0: empty
    uint8_t bytes[BLOCK_BYTES]

cdef struct BlockCache:
    Slot *slots
    int tables               # that share it
    int filling              # whether a thread writes to it
    uint64_t fillings

cdef struct Packed:
    BlockCache *cache
    void *table              # the Python object that unpacks its blocks
    uint32_t number          # of the table, from 1


# Unpack a block into a slot; its byte `at`, or -1 where the block is damaged.
cdef int fill(const Packed *packed, Slot *slot, uint32_t key, uint32_t at) noexcept with gil:
    cdef bytes data
    cdef const unsigned char *start
    cdef Py_ssize_t i, size
    try:
        data = (<object>packed.table).block(key & (MOST_BLOCKS - 1))
    except Exception:
        return -1            # The table has taken note of it.
    except BaseException:
        PyErr_SetInterrupt() # Ctrl-C: once more, where it can be raised.
        return -1
    start = data
    size = min(len(data), BLOCK_BYTES)
    while not exchange(&packed.cache.filling, 0, 1):
        pass                 # for as long as 8 KiB take to copy
    write_word(&slot.stamp, 0)
    for i in range(size):
        write_byte(&slot.bytes[i], start[i])
    packed.cache.fillings += 1
    write_word(&slot.stamp, packed.cache.fillings << 32 | key)
    write_shared(&packed.cache.filling, 0)
    return start[at] if at < size else -1


# The value of a place; UNKNOWN where its block is damaged.
cdef inline int packed_value(const Packed *packed, uint64_t place) noexcept nogil:
    cdef uint64_t stamp
    cdef uint32_t key = packed.number * MOST_BLOCKS + <uint32_t>(place / PLACES_IN_BLOCK)
    cdef uint32_t at = (place % PLACES_IN_BLOCK) >> 2
    cdef Slot *slot = &packed.cache.slots[mix(key) % SLOTS]
    cdef int byte
    stamp = read_word(&slot.stamp)
    byte = read_byte(&slot.bytes[at])
    if unlikely(<uint32_t>stamp != key or read_word(&slot.stamp) != stamp):
        byte = fill(packed, slot, key, at)
        if byte < 0:
            return UNKNOWN
    return (byte >> (2 * (place & 3))) & 3
