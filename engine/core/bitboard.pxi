# Sets of points as 24-bit masks: counting, lines, mills.
#
# Each ring is one byte (see board.py): a step around a ring rotates every byte by one bit, a step
# across the rings rotates the whole mask by one byte. check_geometry() holds these shifts to the
# lines and neighbours that board.py states.

from libc.stdint cimport (
    int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t)

cdef extern from *:
    """
    #include <stdint.h>
    #if defined(__GNUC__) || defined(__clang__)
      #define MERELS_LOWEST(x) __builtin_ctz(x)
      #define MERELS_PREFETCH(p) __builtin_prefetch(p)
      #define MERELS_LIKELY(x) __builtin_expect(!!(x), 1)
      #define MERELS_UNLIKELY(x) __builtin_expect(!!(x), 0)
      #define MERELS_READ(p) __atomic_load_n((p), __ATOMIC_RELAXED)
      #define MERELS_WRITE(p, x) __atomic_store_n((p), (x), __ATOMIC_RELAXED)
    #else
      #include <intrin.h>
      static __inline int MERELS_LOWEST(uint32_t x) {
          unsigned long i;
          _BitScanForward(&i, x);
          return (int)i;
      }
      #define MERELS_PREFETCH(p) ((void)0)
      #define MERELS_LIKELY(x) (x)
      #define MERELS_UNLIKELY(x) (x)
      #define MERELS_READ(p) (*(const volatile int *)(p))
      #define MERELS_WRITE(p, x) (*(volatile int *)(p) = (x))
    #endif
    #if defined(__POPCNT__) || defined(__aarch64__)
      #define MERELS_COUNT(x) __builtin_popcount(x)
    #else
      /* Three bytes summed by one multiplication: no instruction that an old processor lacks. */
      static inline int merels_count_portably(uint32_t x) {
          x -= (x >> 1) & 0x555555u;
          x = (x & 0x333333u) + ((x >> 2) & 0x333333u);
          x = (x + (x >> 4)) & 0x0F0F0Fu;
          return (int)((x * 0x010101u) >> 16) & 0xFF;
      }
      #if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
        /* The instruction is chosen at run time: a branch that is always predicted costs less
           than the arithmetic, and needs no build for one processor. */
        static int merels_has_popcnt = 0;
        __attribute__((constructor)) static void merels_look_for_popcnt(void) {
            __builtin_cpu_init();
            merels_has_popcnt = __builtin_cpu_supports("popcnt") != 0;
        }
        static inline int MERELS_COUNT(uint32_t x) {
            if (MERELS_LIKELY(merels_has_popcnt)) {
                uint32_t result;
                __asm__("popcntl %1, %0" : "=r"(result) : "r"(x) : "cc");
                return (int)result;
            }
            return merels_count_portably(x);
        }
      #else
        #define MERELS_COUNT(x) merels_count_portably(x)
      #endif
    #endif
    """
    int lowest "MERELS_LOWEST"(uint32_t mask) noexcept nogil
    int count "MERELS_COUNT"(uint32_t mask) noexcept nogil
    void prefetch "MERELS_PREFETCH"(const void *address) noexcept nogil
    bint likely "MERELS_LIKELY"(bint condition) noexcept nogil
    bint unlikely "MERELS_UNLIKELY"(bint condition) noexcept nogil
    # Numbers that one thread writes while others read them.
    int read_shared "MERELS_READ"(const int *number) noexcept nogil
    void write_shared "MERELS_WRITE"(int *number, int value) noexcept nogil

cdef enum:
    POINT_COUNT = 24
    ALL = 0xFFFFFF
    MIDDLES = 0x555555      # even angles
    CORNERS = 0xAAAAAA      # odd angles

# Handed over by board.py when the module is loaded.
cdef uint32_t NEIGHBOURS[24]
cdef uint32_t PARTNERS[24][2]


# Every point's value moves one step clockwise.
cdef inline uint32_t clockwise(uint32_t mask) noexcept nogil:
    return ((mask << 1) & 0xFEFEFE) | ((mask >> 7) & 0x010101)


# Every point's value moves one step counter-clockwise.
cdef inline uint32_t counter(uint32_t mask) noexcept nogil:
    return ((mask >> 1) & 0x7F7F7F) | ((mask << 7) & 0x808080)


# Every point's value moves one ring outward, the outer ring's to the inner ring.
cdef inline uint32_t outward(uint32_t mask) noexcept nogil:
    return ((mask << 8) | (mask >> 16)) & ALL


# The men that stand in a mill.
cdef inline uint32_t in_mills(uint32_t men) noexcept nogil:
    cdef uint32_t sides = men & clockwise(men) & counter(men) & MIDDLES
    cdef uint32_t crossings = men & (men >> 8) & (men >> 16) & 0x55
    return sides | clockwise(sides) | counter(sides) | crossings * 0x010101


# The points, taken or not, whose line (the first or the second through the point) the men fill
# otherwise. A point in both results closes two mills.
cdef inline void closing_points(uint32_t men, uint32_t *first, uint32_t *second) noexcept nogil:
    cdef uint32_t before = clockwise(men)
    cdef uint32_t after = counter(men)
    cdef uint32_t out = outward(men)
    first[0] = (after & ((CORNERS & counter(after)) | (MIDDLES & before)))
    second[0] = (CORNERS & before & clockwise(before)) | (MIDDLES & out & outward(out))


# The points that become occupied when every man steps across a ring, in or out.
cdef inline uint32_t across(uint32_t men) noexcept nogil:
    men &= MIDDLES
    return ((men << 8) | (men >> 8)) & ALL


# The points one step away from some of these points.
cdef inline uint32_t reach(uint32_t men) noexcept nogil:
    return clockwise(men) | counter(men) | across(men)


# The empty points where a side could close a mill by one move (`anywhere`: by a placement, or
# flying). With `anywhere` a man of the line itself may be the only one to move there.
cdef inline uint32_t threats_of(uint32_t men, uint32_t empty, bint anywhere) noexcept nogil:
    cdef uint32_t first, second, before, after
    closing_points(men, &first, &second)
    if not anywhere:
        before = clockwise(men)
        after = counter(men)
        first &= (CORNERS & before) | (MIDDLES & across(men))
        second &= (CORNERS & after) | (MIDDLES & (before | after))
    return (first | second) & empty


# Pairs of a man and an empty neighbour: the steps that the men have.
cdef inline int count_steps(uint32_t men, uint32_t empty) noexcept nogil:
    return (count(men & clockwise(empty)) + count(men & counter(empty))
            + count(men & MIDDLES & (empty << 8)) + count(men & MIDDLES & (empty >> 8)))


# How many lines the men fill through a point, the point itself not looked at.
cdef inline int mills_at(uint32_t men, int point) noexcept nogil:
    assert 0 <= point < POINT_COUNT
    return ((men & PARTNERS[point][0]) == PARTNERS[point][0]) + (
        (men & PARTNERS[point][1]) == PARTNERS[point][1])


cdef void load_geometry() except *:
    for point in range(POINT_COUNT):
        NEIGHBOURS[point] = board.NEIGHBOURS[point]
        PARTNERS[point][0], PARTNERS[point][1] = board.PARTNERS[point]


def check_geometry(uint32_t men):
    """Whether the shifts agree with the lines and neighbours of `board` on one set of men.

    Returns the points where they do not, as a mask; for tests.
    """
    cdef uint32_t first, second, wrong = 0, near = 0
    closing_points(men, &first, &second)
    for point in range(POINT_COUNT):
        if ((first >> point) & 1) + ((second >> point) & 1) != mills_at(men, point):
            wrong |= 1u << point
        if (men >> point) & 1:
            near |= NEIGHBOURS[point]
    return wrong | (near ^ reach(men)) | (in_mills(men) ^ <uint32_t>board.in_mills(men))
