# Sets of points as 24-bit masks: counting, lines and mills. Also the hash mixer.
#
# Each ring is one byte (see game/board.py). A step around a ring rotates its byte by one bit; a
# step across the rings shifts the mask by one byte.
#
# Needs platform.pxi.

cdef extern from *:
    """
    /* The set in both halves of a number. */
    #define MERELS_TWICE(set) ((set) * 0x100000001ull)
    /* 2 ** 64 divided by the golden ratio: its multiples are spread evenly modulo 2 ** 64. */
    #define MERELS_GOLDEN 0x9E3779B97F4A7C15ull
    """
    const uint64_t GOLDEN "MERELS_GOLDEN"
    uint64_t twice "MERELS_TWICE"(uint32_t set) noexcept nogil

cdef enum:
    POINT_COUNT = 24
    ALL = 0xFFFFFF
    MIDDLES = 0x555555      # even angles
    CORNERS = 0xAAAAAA      # odd angles

# One set of points, or two sets in one number, the second in the upper 32 bits: one operation then
# serves both sides.
ctypedef fused mask_t:
    uint32_t
    uint64_t

# Copies of the tables in game/board.py: for each point, the set of its neighbours, and for each of
# its two lines, the set of the line's other two points.
cdef uint32_t NEIGHBOURS[POINT_COUNT]
cdef uint32_t PARTNERS[POINT_COUNT][2]


cdef inline uint64_t pair(uint32_t first, uint32_t second) noexcept nogil:
    return first | <uint64_t>second << 32


# Move every point of a set one step clockwise.
cdef inline mask_t clockwise(mask_t mask) noexcept nogil:
    return ((mask << 1) & <mask_t>twice(0xFEFEFE)) | ((mask >> 7) & <mask_t>twice(0x010101))


# Move every point of a set one step counter-clockwise.
cdef inline mask_t counterclockwise(mask_t mask) noexcept nogil:
    return ((mask >> 1) & <mask_t>twice(0x7F7F7F)) | ((mask << 7) & <mask_t>twice(0x808080))


# Move every point of a set one ring outward, and the outer ring's points to the inner ring.
cdef inline mask_t outward(mask_t mask) noexcept nogil:
    return ((mask << 8) & <mask_t>twice(0xFFFF00)) | ((mask >> 16) & <mask_t>twice(0x0000FF))


# The men that are in a mill.
cdef inline uint32_t in_mills(uint32_t men) noexcept nogil:
    cdef uint32_t sides = men & clockwise(men) & counterclockwise(men) & MIDDLES
    # The lines across the rings, each as its point on the inner ring, which is the lowest byte.
    cdef uint32_t crossings = men & (men >> 8) & (men >> 16) & 0x55
    return sides | clockwise(sides) | counterclockwise(sides) | crossings * 0x010101


# Find the points, empty or not, for which these men fill the two other points of a line. A point
# is in two lines, and there is a set for each:
#
#            of a corner                  of a middle
#   first    its side clockwise           its side
#   second   its side counter-clockwise   its line across the rings
#
# A man on a point in both sets closes two mills.
cdef inline void closing_points(mask_t men, mask_t *first, mask_t *second) noexcept nogil:
    cdef mask_t cw = clockwise(men), ccw = counterclockwise(men), out = outward(men)
    cdef mask_t corners = <mask_t>twice(CORNERS), middles = <mask_t>twice(MIDDLES)
    first[0] = ccw & ((corners & counterclockwise(ccw)) | (middles & cw))
    second[0] = (corners & cw & clockwise(cw)) | (middles & out & outward(out))


# The points that the men can step to across the rings, inward or outward, empty or not.
cdef inline mask_t across(mask_t men) noexcept nogil:
    men &= <mask_t>twice(MIDDLES)
    return ((men << 8) | (men >> 8)) & <mask_t>twice(ALL)


# The neighbours of these points.
cdef inline mask_t reach(mask_t men) noexcept nogil:
    return clockwise(men) | counterclockwise(men) | across(men)


# The empty points where a move of these men can close a mill. `anywhere` is ALL for a side that
# places or flies, else 0.
cdef inline mask_t threats_of(mask_t men, mask_t empty, mask_t anywhere) noexcept nogil:
    cdef mask_t first, second
    cdef mask_t cw = clockwise(men), ccw = counterclockwise(men)
    cdef mask_t corners = <mask_t>twice(CORNERS), middles = <mask_t>twice(MIDDLES)
    closing_points(men, &first, &second)
    # A man that steps to the point must come from a neighbour outside the line: to a corner, along
    # its other side; to a middle, across the rings if the line is its side, else along its side.
    first &= (corners & cw) | (middles & across(men)) | anywhere
    second &= (corners & ccw) | (middles & (cw | ccw)) | anywhere
    return (first | second) & empty


# The steps across the rings, one bit each: outward on the even bit of the man's point, inward on
# the odd bit after it.
cdef inline mask_t middle_steps(mask_t men, mask_t empty) noexcept nogil:
    men &= <mask_t>twice(MIDDLES)
    return (men & (empty >> 8)) | ((men & (empty << 8)) << 1)


# The number of steps of these men: pairs of a man and an empty neighbour.
cdef inline int count_steps(uint32_t men, uint32_t empty) noexcept nogil:
    return (count(men & clockwise(empty)) + count(men & counterclockwise(empty))
            + count(middle_steps(men, empty)))


# The number of mills that a man on a point forms with these men: 0, 1 or 2.
cdef inline int mills_at(uint32_t men, int point) noexcept nogil:
    assert 0 <= point < POINT_COUNT
    return ((men & PARTNERS[point][0]) == PARTNERS[point][0]) + (
        (men & PARTNERS[point][1]) == PARTNERS[point][1])


# The hash mixer: the upper 32 bits of the result depend on all bits of the number. It multiplies
# and shifts like SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), whose multiplier it shares, but
# with other shifts and one multiplication by GOLDEN.
cdef inline uint64_t mix(uint64_t number) noexcept nogil:
    number = (number ^ (number >> 31)) * GOLDEN
    return (number ^ (number >> 29)) * 0xBF58476D1CE4E5B9ull


# Map the upper half of a mixed number to 0 … limit - 1; the limit is below 2 ** 32.
cdef inline uint64_t below(uint64_t mixed, uint64_t limit) noexcept nogil:
    return ((mixed >> 32) * limit) >> 32


cdef void load_geometry() except *:
    for point in range(POINT_COUNT):
        NEIGHBOURS[point] = board.NEIGHBOURS[point]
        PARTNERS[point][0], PARTNERS[point][1] = board.PARTNERS[point]
