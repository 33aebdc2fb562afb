# Depths and bounds of a board's value in the tables, and the values of its moves in a game.
#
# Needs board.pxi, ends.pxi, movegen.pxi, probe.pxi, depths.pxi.

# The depth of a board with this value (255: 255 or more); -1 for a draw, or if no list of depths
# fits its table.
cdef int depth_of(const Tables *tables, const Board *b, int value) noexcept nogil:
    cdef int most, depth, own = count(b.own), opponent = count(b.opponent)
    cdef int least_listed = least_listed_depth(&tables.rules, own, opponent)
    if value == DRAWN or b.own_hand | b.opponent_hand or tables.depths[own][opponent] == NULL:
        return -1
    # Iterative deepening, because most conversions are near. A loss at depth `least_listed` or more
    # is listed, so its depth may exceed `most`.
    for most in range(1, least_listed + 1):
        if value == LOST:
            depth = depth_of_loss(tables, b, most)
        else:
            depth = depth_of_win(tables, b, most)
        if depth <= most or (value == LOST and depth >= least_listed):
            return depth
    if value == LOST:
        return -1            # A distant loss that is not listed: the list has other values.
    # A distant win: the depths of the losses after its moves are listed.
    return min(MAX_STORED, depth_of_win(tables, b, MAX_STORED))


# Set the least and the greatest value (-1, 0, 1) that a board of a known value and depth may have,
# given its plies without a removal. A win or loss is certain if its depth is at most the plies left
# to the limit, and a draw if the depth is greater. If the depth is unknown (-1, or MAX_STORED,
# which also represents greater depths), it may be a draw. At depth 0 the game has ended, and with
# men in hand there is no limit.
cdef inline void bounds_of(int limit, const Board *b, int value, int depth, int *least,
                           int *greatest) noexcept nogil:
    least[0] = greatest[0] = 0
    if value == DRAWN:
        return
    if limit and b.plies and not b.own_hand | b.opponent_hand:
        if depth < 0 or (depth == MAX_STORED and b.plies + depth <= limit):
            least[0] = -(value == LOST)
            greatest[0] = value == WON
            return
        if depth and b.plies + depth > limit:
            return
    least[0] = greatest[0] = 1 if value == WON else -1


# Set the bounds of a board's value; return False if it is in no table.
cdef bint table_bounds(const Tables *tables, const Board *b, int *least,
                       int *greatest) noexcept nogil:
    cdef int depth = -1, value = table_probe(tables, b)
    cdef int limit = plies_limit(&tables.rules, b.own_total, b.opponent_total)
    if value == UNKNOWN:
        return False
    if limit and b.plies and not b.own_hand | b.opponent_hand:
        depth = depth_of(tables, b, value)
    bounds_of(limit, b, value, depth, least, greatest)
    return True


cdef enum:
    RANKS = 1 << 10          # more than twice the greatest depth of a move


# The value of a move for the side that plays it, with the game's repetitions and plies.
cdef struct MoveValue:
    move_t move
    int value                # -1, 0, 1, or UNKNOWN
    int depth                # plies to the next removal or the end, the move included; or -1
    bint certain             # not a win or loss that may be drawn first
    int rank                 # moves of a lower rank are better
    bint nearly_drawn        # a loss that a limit or a repetition may soon turn into a draw
    bint repeats             # a draw that ends the game or repeats one of its positions


# Whether a move from a board one ply after the root draws by repetition.
cdef bint can_repeat(const Game *game, const Board *b) noexcept nogil:
    cdef MoveList replies
    cdef Board after
    cdef int i, score
    generate(&game.rules, b, &replies, False, True)
    for i in range(replies.size):
        make(b, replies.moves[i], &after)
        if terminal_reason(game, &after, key_of(&game.rules, &after), 2,
                           &score) == BY_REPETITION:
            return True
    return False


# Set the value of a move. A side that loses may repeat a position of the game now, which draws, or
# later, which makes the value uncertain. A loss then gets no depth, so that a search looks for the
# repetition.
cdef void value_move(const Tables *tables, const Game *game, const Board *b, move_t move,
                     MoveValue *row) noexcept nogil:
    cdef Board after
    cdef int value, score, least, greatest
    cdef int limit
    cdef uint64_t key
    make(b, move, &after)
    key = key_of(&game.rules, &after)
    row.move = move
    row.depth = -1
    row.certain = True
    row.nearly_drawn = row.repeats = False
    if terminal_reason(game, &after, key, 1, &score):
        row.value = score < 0
        row.depth = 1 if score < 0 else -1
        row.repeats = score == 0
        return
    value = table_probe(tables, &after)
    row.value = UNKNOWN
    if value == UNKNOWN:
        return
    row.depth = depth_of(tables, &after, value)
    limit = plies_limit(&tables.rules, after.own_total, after.opponent_total)
    bounds_of(limit, &after, value, row.depth, &least, &greatest)
    row.certain = least == greatest
    if value == DRAWN or least == greatest == 0 or (
            value == LOST and game.recurring and not is_removal(move)
            and can_repeat(game, &after)):
        row.repeats = least == greatest == 0 and is_in_game(game, key)
        row.value = 0
        row.certain = True
        row.depth = -1
        return
    row.value = 1 if value == LOST else -1
    if row.depth >= 0:
        row.depth = 1 if is_removal(move) else row.depth + 1
    if game.recurring and not is_removal(move):
        row.certain = False
        if row.value < 0:
            row.depth = -1
            row.nearly_drawn = True
    elif row.value < 0 and not row.certain:
        row.nearly_drawn = limit and limit - after.plies <= NEAR_DRAW


# Set the values of a board's moves in order; return the number of moves that have one. The loop
# stops early at the time `end` (NULL: never) or, if that is later, at the time `not_before`.
cdef int value_moves(const Tables *tables, Game *game, const Board *b, const MoveList *moves,
                     MoveValue *values, const int64_t *end, int64_t not_before) noexcept nogil:
    cdef int i
    cdef int64_t time
    push_key(game, b, key_of(&game.rules, b), 0)
    for i in range(moves.size):
        value_move(tables, game, b, moves.moves[i], &values[i])
        if end != NULL:
            time = now()
            if time >= not_before and time >= read_time(end):
                return i + 1
    return moves.size


# Rank moves, and sort them by rank: wins, draws, losses, unknown values. Certain wins rank before
# uncertain ones and, if all wins have a depth, short wins before long ones; `equal_wins`: all wins
# have one rank. Draws that repeat a position or end the game rank after other draws: while the game
# goes on, the opponent may err. Nearly drawn losses rank before other losses.
cdef void rank_values(MoveValue *values, int number, bint equal_wins) noexcept nogil:
    cdef MoveValue value
    cdef bint by_depth = True
    cdef int i, j
    for i in range(number):
        by_depth = by_depth and (values[i].value != 1 or values[i].depth >= 0)
    for i in range(number):
        value = values[i]
        if value.value == UNKNOWN:
            value.rank = 3 * RANKS
        elif value.value == 0:
            value.rank = RANKS + value.repeats
        elif value.value < 0:
            value.rank = 2 * RANKS + (not value.nearly_drawn)
        elif equal_wins:
            value.rank = 0
        else:
            value.rank = (RANKS // 2 if not value.certain else 0) + (value.depth if by_depth else 0)
        j = i
        while j and values[j - 1].rank > value.rank:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value
