# Packed tables, read through a cache of unpacked blocks. All threads share the cache, and reading
# takes no lock. A place is the index of a position in its table; a byte has four values.
#
# The stamp of a slot identifies its block. A writer clears the stamp, writes the block, and sets
# the new stamp. If a reader finds the same stamp before and after it reads a byte, the byte belongs
# to that block. This is a sequence lock (Boehm, "Can seqlocks get along with programming language
# memory models?", MSPC 2012). `filling` admits one writer at a time, also in free-threaded Python.
#
# Needs platform.pxi, bitboard.pxi; UNKNOWN is defined in probe.pxi.

from cpython.exc cimport PyErr_SetInterrupt

cpdef enum:
    BLOCK_BYTES = 1 << 13    # size of an unpacked block; the last block of a table may be shorter

cdef enum:
    PLACES_IN_BLOCK = 4 * BLOCK_BYTES
    SLOTS = 1 << 13          # blocks in the cache, 64 MiB
    MAX_BLOCKS = 1 << 16     # most blocks of a table; the largest table has 18,413
    MAX_TABLES = 0xFFFF

cdef struct Slot:
    uint64_t stamp           # count of fillings << 32 | table << 16 | block; 0: empty
    uint8_t bytes[BLOCK_BYTES]

cdef struct BlockCache:
    Slot *slots
    int tables               # number of tables that use the cache
    int filling              # whether a thread is writing to the cache
    uint64_t fillings        # number of blocks written so far

cdef struct Packed:
    BlockCache *cache
    void *table              # the Python object that unpacks blocks
    uint32_t number          # number of the table in the cache, from 1


# Unpack the block that `key` identifies into a slot; return its byte `index`, or -1 if that fails.
cdef int fill(const Packed *packed, Slot *slot, uint32_t key, uint32_t index) noexcept with gil:
    cdef bytes data
    cdef const unsigned char *start
    cdef Py_ssize_t i, size
    try:
        data = (<object>packed.table).block(key & (MAX_BLOCKS - 1))
    except Exception:
        return -1            # The table has recorded the problem.
    except BaseException:
        PyErr_SetInterrupt() # Ctrl-C cannot be raised here: trigger it again.
        return -1
    start = data
    size = min(len(data), BLOCK_BYTES)
    while not exchange(&packed.cache.filling, 0, 1):
        pass                 # Another thread copies a block of 8 KiB.
    write_word(&slot.stamp, 0)
    for i in range(size):
        write_byte(&slot.bytes[i], start[i])
    packed.cache.fillings += 1
    write_word(&slot.stamp, packed.cache.fillings << 32 | key)
    write_shared(&packed.cache.filling, 0)
    return start[index] if index < size else -1


# The value at a place; UNKNOWN if its block cannot be unpacked, or Ctrl-C interrupts this.
cdef inline int packed_value(const Packed *packed, uint64_t place) noexcept nogil:
    cdef uint64_t stamp
    cdef uint32_t key = packed.number * MAX_BLOCKS + <uint32_t>(place / PLACES_IN_BLOCK)
    cdef uint32_t index = (place % PLACES_IN_BLOCK) >> 2
    cdef Slot *slot = &packed.cache.slots[mix(key) % SLOTS]
    cdef int byte
    stamp = read_word(&slot.stamp)
    byte = read_byte(&slot.bytes[index])
    if unlikely(<uint32_t>stamp != key or read_word(&slot.stamp) != stamp):
        byte = fill(packed, slot, key, index)
        if byte < 0:
            return UNKNOWN
    return (byte >> (2 * (place & 3))) & 3
