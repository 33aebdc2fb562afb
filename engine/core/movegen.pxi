# Move generation: moves that close a mill, quiet moves, or both; quiet moves also with scores.
#
# Needs bitboard.pxi and board.pxi.

cdef enum:
    MAX_MOVES = 1536         # more than 3 flying men x 12 empty points x C(9, 2) pairs of removals
    INDEX_SHIFT = 20         # bits of a move; a scored move has its index above them

cdef struct MoveList:
    int size
    move_t moves[MAX_MOVES]

# An item of a list: a move, or a move with its score (see `scored`). One generator writes both
# kinds.
ctypedef int64_t scored_move
ctypedef fused item_t:
    move_t
    scored_move


# Add a move to a list; return the list's new end, as all functions `add_…` do.
cdef inline move_t *add(move_t *end, move_t move) noexcept nogil:
    end[0] = move
    return end + 1


# Add the moves of one man to a point where it closes mills, one for each choice of removals.
cdef inline move_t *add_closing(const RuleSet *rules, const Board *b, move_t *end, int origin,
                                int to, int mills) noexcept nogil:
    cdef uint32_t candidates = removable(rules, b.opponent)
    if candidates == 0:
        return add(end, encode(origin, to, NO_POINT, NO_POINT))
    if unlikely(mills == 2 and rules.each_mill):
        return add_double(rules, b.opponent, end, origin, to)
    while candidates:
        end = add(end, encode(origin, to, lowest(candidates), NO_POINT))
        candidates &= candidates - 1
    return end


# Add the moves that remove two men: each pair once, if either order of removal is legal. A move
# removes one man if no second man may be removed after it.
cdef move_t *add_double(const RuleSet *rules, uint32_t opponent, move_t *end, int origin,
                        int to) noexcept nogil:
    cdef uint32_t men = removable(rules, opponent)
    cdef uint32_t firsts = men, seconds
    cdef int removed, second
    while firsts:
        removed = lowest(firsts)
        firsts &= firsts - 1
        seconds = removable(rules, opponent & ~(1u << removed))
        if seconds == 0:
            end = add(end, encode(origin, to, removed, NO_POINT))
        while seconds:
            second = lowest(seconds)
            seconds &= seconds - 1
            if removed < second:
                end = add(end, encode(origin, to, removed, second))
            # If the opposite order is legal, too, it has already added the pair.
            elif not ((men >> second) & 1 and
                      (removable(rules, opponent & ~(1u << second)) >> removed) & 1):
                end = add(end, encode(origin, to, second, removed))
    return end


# The neighbours of each point in rising order, filled up with NO_POINT.
cdef uint8_t STEPS[POINT_COUNT][4]


# A move with its score. Bits 32 to 63 are the score, bits 20 to 31 are MAX_MOVES less the move's
# index in the list, bits 0 to 19 are the move. Of moves with equal scores, the first in the list is
# therefore the greatest.
cdef inline scored_move scored(int score, int index, move_t move) noexcept nogil:
    return score * (<int64_t>1 << 32) + (((MAX_MOVES - index) << INDEX_SHIFT) | move)


# Complete a quiet move by its target point. `scores` has a score for each point.
cdef inline item_t move_to(item_t move, int to, const int32_t *scores) noexcept nogil:
    if item_t is scored_move:
        return move + to + scores[to] * (<int64_t>1 << 32)
    else:
        return move + to


# Add the moves from one origin (NO_POINT: placements) to `targets`. Only moves to points in
# `threats` can close a mill. `closing` and `quiet` select which moves to add. `first` is the start
# of the list. `move` is the base of all items: it has index 0, no move bits and, in a list with
# scores, the score that all moves share. `scores` has 32 scores for each origin, which are added.
# `stepping`: the men step to neighbours; they neither are placed nor fly.
cdef inline item_t *add_from(const RuleSet *rules, const Board *b, const item_t *first, item_t *end,
                             item_t move, const int32_t *scores, int origin, uint32_t targets,
                             uint32_t threats, bint closing, bint quiet,
                             bint stepping) noexcept nogil:
    cdef uint32_t men = b.own & ~(1u << origin)
    # The index field of scored moves falls by one from each item of the list to the next.
    cdef item_t index_step = 1 << INDEX_SHIFT if item_t is scored_move else 0
    cdef int to, exists, mills, i
    move += encode(origin, 0, NO_POINT, NO_POINT) - index_step * <item_t>(end - first)
    if item_t is scored_move:
        scores += 32 * origin
    threats &= targets
    if quiet:
        targets ^= threats
        if stepping:
            # Whether a step exists is hard to predict, so there is no branch: all four candidates
            # are written, and the next item overwrites one that does not exist.
            for i in range(4):
                to = STEPS[origin][i]
                exists = (targets >> to) & 1
                end[0] = move_to(move, to, scores)
                move -= index_step * exists
                end += exists
        else:
            while targets:
                to = lowest(targets)
                targets &= targets - 1
                end[0] = move_to(move, to, scores)
                move -= index_step
                end += 1
    while threats:
        to = lowest(threats)
        threats &= threats - 1
        mills = mills_at(men, to)
        if mills == 0:
            if quiet:
                end[0] = move_to(move, to, scores)
                move -= index_step
                end += 1
        elif closing:
            if item_t is move_t:
                end = add_closing(rules, b, end, origin, to, mills)
    return end


# Write the moves that close a mill (`closing`), the quiet moves (`quiet`), or both to a list, in a
# fixed order. Both sides must have at least three men; `threats` is the result of `own_threats`.
# The other arguments are those of `add_from`. Only quiet moves can be scored.
cdef inline item_t *add_moves(const RuleSet *rules, const Board *b, uint32_t threats, item_t *first,
                              item_t move, const int32_t *scores, bint closing,
                              bint quiet) noexcept nogil:
    cdef uint32_t empty = ALL & ~(b.own | b.opponent)
    cdef bint stepping = b.own_hand == 0 and not own_flies(rules, b)
    cdef uint32_t origins = 1u << NO_POINT if b.own_hand else b.own
    cdef item_t *end = first
    cdef int origin
    if not quiet and not threats:
        return end
    if stepping:
        origins &= reach(empty if quiet else threats)
    while origins:
        origin = lowest(origins)
        origins &= origins - 1
        end = add_from(rules, b, first, end, move, scores, origin,
                       NEIGHBOURS[origin] & empty if stepping else empty, threats, closing, quiet,
                       stepping)
    return end


# Write moves without scores to a MoveList; the arguments are those of `add_moves`. Unlike
# `generate`, it does not compute the threats, which the search already has.
cdef inline void generate_with_threats(const RuleSet *rules, const Board *b, uint32_t threats,
                                       MoveList *list, bint closing, bint quiet) noexcept nogil:
    assert is_sound(b) and not either_below_minimum(b) and threats == own_threats(rules, b)
    list.size = add_moves[move_t](
        rules, b, threats, list.moves, 0, NULL, closing, quiet) - list.moves
    assert list.size <= MAX_MOVES


# Write moves of any board to a MoveList: those that close a mill (`closing`), the quiet ones
# (`quiet`), or both; none if a side has fewer than three men.
cdef inline void generate(const RuleSet *rules, const Board *b, MoveList *list, bint closing,
                          bint quiet) noexcept nogil:
    list.size = 0
    if likely(not either_below_minimum(b)):
        generate_with_threats(rules, b, own_threats(rules, b), list, closing, quiet)


# Write the legal moves of any board to a MoveList.
cdef inline void generate_all(const RuleSet *rules, const Board *b, MoveList *list) noexcept nogil:
    generate(rules, b, list, True, True)


cdef bint contains(const MoveList *list, move_t move) noexcept nogil:
    cdef int i
    for i in range(list.size):
        if list.moves[i] == move:
            return True
    return False


cdef bint is_generated(const RuleSet *rules, const Board *b, move_t move) noexcept nogil:
    cdef MoveList list
    generate_all(rules, b, &list)
    return contains(&list, move)


# Whether `move`, which may be any number, is a legal move. Both sides must have at least three men.
# It generates moves only under rules by which a move may remove two men.
cdef inline bint is_legal(const RuleSet *rules, const Board *b, move_t move) noexcept nogil:
    cdef int to = to_of(move), origin = origin_of(move)
    cdef uint32_t men = b.own, candidates
    if ((ALL & ~(b.own | b.opponent)) >> to) & 1 == 0:
        return False
    if b.own_hand:
        if origin != NO_POINT:
            return False
    else:
        if (men >> origin) & 1 == 0:
            return False
        men ^= 1u << origin
        if (NEIGHBOURS[origin] >> to) & 1 == 0 and not own_flies(rules, b):
            return False
    # The removals begin at bit 10. All bits above are compared, because `move` may be any number.
    if likely(mills_at(men, to) == 0):
        return move >> 10 == NO_MOVE >> 10
    if unlikely(rules.each_mill):
        return is_generated(rules, b, move)
    candidates = removable(rules, b.opponent)
    if unlikely(candidates == 0):
        return move >> 10 == NO_MOVE >> 10
    return (candidates >> removed_of(move)) & 1 and move >> 15 == NO_POINT


cdef void load_steps() noexcept:
    cdef int origin, to, number
    for origin in range(POINT_COUNT):
        number = 0
        for to in range(POINT_COUNT):
            if (NEIGHBOURS[origin] >> to) & 1:
                STEPS[origin][number] = to
                number += 1
        for number in range(number, 4):
            STEPS[origin][number] = NO_POINT
