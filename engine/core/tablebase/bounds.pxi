# What tables say of any board: its depth, and its value when plies without a removal count.
#
# Needs board.pxi, tablebase/probe.pxi, tablebase/depths.pxi.

# The depth of a board of that value (255: 255 or more), or -1: a draw, or no depths are kept.
cdef int depth_of(const Tables *tables, const Board *b, int value) noexcept nogil:
    cdef int most, depth, own = count(b.own), opponent = count(b.opponent)
    cdef int listed = long_loss(&tables.rules, own, opponent)
    if value == DRAWN or b.own_hand | b.opponent_hand or tables.depths[own][opponent] == NULL:
        return -1
    # A shallow look first: most ends are near.
    for most in range(1, listed + 1):
        if value == LOST:
            depth = depth_of_loss(tables, b, most)
        else:
            depth = depth_of_win(tables, b, most)
        if depth <= most or (value == LOST and depth >= listed):
            return depth
    if value == LOST:
        return -1            # a list that does not belong to the values
    return min(MAX_STORED, depth_of_win(tables, b, MAX_STORED))


# The least and the greatest value (-1, 0, 1) given the plies since the last removal; False where no
# table has the board. A win is certain while its depth fits into the plies left; without its depth
# it may have become a draw, but never a loss. With men in hand no plies count.
cdef bint table_bounds(const Tables *tables, const Board *b, int *least,
                       int *greatest) noexcept nogil:
    cdef int depth, value = table_probe(tables, b)
    cdef int limit = plies_limit(&tables.rules, count(b.own), count(b.opponent))
    least[0] = greatest[0] = 0
    if value == UNKNOWN:
        return False
    if value == DRAWN:
        return True
    if limit and b.plies and not b.own_hand | b.opponent_hand:
        depth = depth_of(tables, b, value)
        if depth < 0 or (depth == MAX_STORED and b.plies + depth <= limit):
            least[0] = -(value == LOST)
            greatest[0] = value == WON
            return True
        if depth and b.plies + depth > limit:
            return True
    least[0] = greatest[0] = 1 if value == WON else -1
    return True
